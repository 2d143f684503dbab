import { canonicalJson } from '@fixpoint/contracts/canonical-json';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { definitionOf, type EventNamed, type EventType, type LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { lineageStream, streamCategory } from '@fixpoint/contracts/streams';
import { fold } from '@fixpoint/decider/decider';
import { lineage } from '@fixpoint/orchestrator/domain/lineage/decide';
import type { Task, Unit } from '@fixpoint/orchestrator/domain/lineage/state';
import type { Ending } from './scenario.ts';

/** What one lineage came to, with nothing in it that delivery may change. */
export interface Story {
  readonly ending: Ending;
  /** Of every unit and task: absolute values. */
  readonly counters: Readonly<Record<string, unknown>>;
  /** Everything that was decided, said or done, sorted: without ids, times, durations and who did it. */
  readonly decisions: readonly string[];
}

type Events = readonly RecordedEvent[];

/** Events by lineage. */
const byRoot = (events: Events): ReadonlyMap<string, Events> =>
  Map.groupBy(
    events.filter(({ root, stream }) => root !== stream),
    ({ root }) => root,
  );

export const storiesOf = (events: Events): ReadonlyMap<string, Story> =>
  new Map([...byRoot(events)].map(([root, own]) => [nameOf(own), storyOf(root, own)]));

const nameOf = (events: Events): string => dataOf(events, 'task_submitted')[0]?.spec.name ?? '';

/** Data of all events of a type, in order. */
export const dataOf = <Type extends EventType>(events: Events, type: Type): readonly EventNamed<Type>['data'][] =>
  events.filter((event) => event.type === type).map(({ data }) => data as EventNamed<Type>['data']);

const storyOf = (root: string, events: Events): Story => {
  const own = events.filter(({ stream }) => stream === lineageStream(root));
  const state = fold(lineage, lineage.initial, own as unknown as readonly LineageEvent[]);
  if (state.status === 'unknown') throw new Error(`${root} was never admitted`);
  const unit = state.units[root];
  return {
    ending: endingOf(root, own, unit),
    counters: {
      ...Object.fromEntries(Object.entries(state.units).map(([id, each]) => [id, unitCounters(each)])),
      ...Object.fromEntries(Object.entries(state.tasks).map(([id, each]) => [`task ${id}`, taskCounters(each)])),
    },
    decisions: events.map(decisionOf).sort(),
  };
};

const unitCounters = ({ affinity, fixAttempts, depthReached, runs, recovering, faults, handoffs, request }: Unit) => ({
  ...{ affinity, fixAttempts, depthReached, runs, recovering, faults, handoffs, requests: request.number },
});

const taskCounters = ({ status, runs, fixes, node, signatures }: Task) => ({
  ...{ status, runs, fixes, counters: node.counters, signatures },
});

const endingOf = (root: string, events: Events, unit: Unit | undefined): Ending => {
  const [human] = dataOf(events, 'human_required');
  const [blocked] = dataOf(events, 'task_blocked');
  const completed = dataOf(events, 'task_completed').find(({ task }) => task === root);
  const haltType = blocked?.halt_type ?? human?.halt_type;
  const status = completed?.outcome ?? (blocked ? 'blocked' : 'human');
  return {
    status,
    ...(haltType === undefined ? {} : { haltType }),
    fixAttempts: unit?.fixAttempts ?? 0,
    depth: unit?.depthReached ?? 0,
    runs: dataOf(events, 'node_ready').length,
  };
};

/** Differs between two deliveries of one history, and says nothing about it. */
const INCIDENTAL = /_at$|^duration_ms$|^token$|^token_id$|^owner$|^handoff$/;

/** Who found out that an executor was gone, and how. */
const FINDER = /^(\S+ let its lease run out; )?found by \S+$/;

const essence = (value: unknown): unknown => {
  if (typeof value === 'string') return value.replace(FINDER, 'lost');
  if (Array.isArray(value)) return value.map(essence);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !INCIDENTAL.test(key));
  return Object.fromEntries(kept.map(([key, each]) => [key, essence(each)]));
};

const decisionOf = ({ stream, type, data }: RecordedEvent): string => {
  if (definitionOf(type) === undefined) throw new Error(`${type} is no event of ours`);
  return `${streamCategory(stream)} ${type} ${canonicalJson(essence(data) as never)}`;
};

/** All events by stream, whole, but for their place among those of other streams. */
export const streamsOf = (events: Events): Readonly<Record<string, readonly unknown[]>> => {
  const whole = events.map(({ cursor: _place, ...event }) => event);
  return Object.fromEntries(Map.groupBy(whole, ({ stream }) => stream));
};
