import type { z } from 'zod';
import type { RecordedEvent } from '../envelope.ts';
import { definitionOf } from './catalogue.ts';
import type { EventDefinition } from './define.ts';

/**
 * A recorded event as this release would have written it: data of an older schema version is upcast, step by step; hash and
 * place stay those of what is stored. Whoever reads events reads them through this, so that nothing else knows old shapes.
 * Types and versions of later releases come back as they are, and so does data that its own version would have refused:
 * who parses it finds out.
 */
export const currentEvent = (event: RecordedEvent): RecordedEvent => {
  const definition = definitionOf(event.type);
  if (definition === undefined || event.schema_version >= definition.version) return event;
  return upcast(event, definition);
};

type Steps = Pick<EventDefinition<string, z.ZodType>, 'version' | 'upcasts'>;

const upcast = (event: RecordedEvent, { version, upcasts = [] }: Steps): RecordedEvent => {
  const steps = upcasts.slice(event.schema_version - 1);
  if (event.schema_version < 1 || steps.length !== version - event.schema_version) return event;
  try {
    const data = steps.reduce<unknown>((older, step) => step(older as never), event.data);
    return { ...event, schema_version: version, data };
  } catch {
    // One event that makes no sense must not stop the page it is in: its reader is told by the parser.
    return event;
  }
};
