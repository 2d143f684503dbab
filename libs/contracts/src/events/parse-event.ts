import type { RecordedEvent } from '../envelope.ts';
import { definitionOf, type EventNamed, type EventType } from './catalogue.ts';
import { currentEvent } from './current-event.ts';

/** The event can not be understood by this build: unknown type, later version, or data that its schema refuses. */
export class UnreadableEvent extends Error {
  override readonly name = 'UnreadableEvent';
  readonly code: 'event_type_unknown' | 'event_version_unknown' | 'event_data_invalid';
  /** Id of the event. */
  readonly event: string;
  /** False when a newer release, which may run beside this one, could read it: an unknown type, or a higher version. */
  readonly isFinal: boolean;

  constructor(
    code: UnreadableEvent['code'],
    event: Pick<RecordedEvent, 'id' | 'type' | 'schema_version'>,
    detail = '',
  ) {
    super(`${code}: ${event.type} v${event.schema_version} (${event.id})${detail === '' ? '' : `: ${detail}`}`);
    this.code = code;
    this.event = event.id;
    const known = definitionOf(event.type)?.version ?? 0;
    this.isFinal = code === 'event_data_invalid' || (code === 'event_version_unknown' && event.schema_version < known);
  }
}

/**
 * Data of a recorded event, parsed by the schema of its type.
 * @throws {UnreadableEvent} never retried with success: the caller dead-letters it.
 */
export const readEvent = <Type extends EventType>(event: RecordedEvent, type: Type): EventNamed<Type>['data'] => {
  if (event.type !== type) throw new UnreadableEvent('event_type_unknown', event, `expected ${type}`);
  return parseEvent(event).data as EventNamed<Type>['data'];
};

/**
 * Same for any type of the catalogue, in the shape of its current version. An event object is parsed once, however many readers of one process it reaches:
 * neither it nor what this returns is ever changed.
 */
export const parseEvent = (event: RecordedEvent): EventNamed<EventType> => {
  const known = parsedEvents.get(event);
  if (known !== undefined) return known;
  const parsed = parse(event);
  parsedEvents.set(event, parsed);
  return parsed;
};

const parsedEvents = new WeakMap<RecordedEvent, EventNamed<EventType>>();

const parse = (recorded: RecordedEvent): EventNamed<EventType> => {
  const event = currentEvent(recorded);
  const definition = definitionOf(event.type);
  if (!definition) throw new UnreadableEvent('event_type_unknown', event);
  if (event.schema_version !== definition.version) throw new UnreadableEvent('event_version_unknown', event);
  const parsed = definition.data.safeParse(event.data);
  if (!parsed.success) throw new UnreadableEvent('event_data_invalid', event, parsed.error.issues[0]?.message);
  return { type: definition.type, data: parsed.data } as EventNamed<EventType>;
};
