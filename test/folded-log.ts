import { canonicalJson } from '@fixpoint/contracts/canonical-json';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { currentEvent } from '@fixpoint/contracts/events/current-event';
import { fold } from '@fixpoint/decider/decider';
import { lineage } from '@fixpoint/orchestrator/domain/lineage/decide';
import type { Lineage, Task, Unit } from '@fixpoint/orchestrator/domain/lineage/state';
import { type LineageWaits, NO_WAITS } from '@fixpoint/orchestrator/waits/wait-rows';
import { waitsAfter } from '@fixpoint/orchestrator/waits/waits-after';
import { tablesOf } from './world/projections.ts';

/** One line of a golden log: an event as it is stored, `metadata` and `data` as the texts that its hash covers. */
export interface GoldenEvent {
  readonly stream: string;
  readonly version: number;
  readonly root: string;
  readonly type: string;
  readonly schema_version: number;
  readonly id: string;
  readonly occurred_at: string;
  readonly metadata: string;
  readonly data: string;
  readonly hash: string;
}

/** The lines of a golden log, in the order of the store. */
export const goldenEvents = (text: string): readonly GoldenEvent[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

/** As the store would give them back today. */
export const recordedEvents = (log: readonly GoldenEvent[]): readonly RecordedEvent[] =>
  log.map(({ metadata, data, ...event }, index) =>
    currentEvent({
      ...event,
      metadata: JSON.parse(metadata),
      data: JSON.parse(data),
      cursor: { epoch: 1, xid: String(index + 1), position: String(index + 1) },
    }),
  );

/** Everything that follows from a log: states of lineages, rows of the read model, what is waited for. As plain JSON. */
export const foldedLog = (events: readonly RecordedEvent[]): Folded => {
  const streams = Map.groupBy(events, ({ stream }) => stream);
  const lineages = [...streams].filter(([stream]) => stream.startsWith('lineage-'));
  const states = lineages.map(([stream, own]) => [
    stream,
    // Everything on a lineage's stream is an event of the lineage.
    meaningOf(fold(lineage, lineage.initial, own as unknown as readonly LineageEvent[])),
  ]);
  const waits = new Map<string, LineageWaits>();
  for (const event of events) waits.set(event.root, waitsAfter(waits.get(event.root) ?? NO_WAITS, event));
  const tables = Object.entries(tablesOf(events)).map(([name, rows]) => [name, Object.fromEntries(rows)]);
  const all = { states: Object.fromEntries(states), waits: Object.fromEntries(waits), ...Object.fromEntries(tables) };
  return JSON.parse(canonicalJson(all));
};

/** What decisions go by, in words of its own: how a state is kept in memory may change from release to release. */
const meaningOf = (state: Lineage) => {
  if (state.status === 'unknown') return state;
  const { scope, protocol, deadlineAt: deadline_at, tasks, units } = state;
  return {
    ...{ scope, protocol, deadline_at },
    tasks: Object.fromEntries(Object.entries(tasks).map(([id, task]) => [id, meaningOfTask(task)])),
    units: Object.fromEntries(Object.entries(units).map(([id, unit]) => [id, meaningOfUnit(unit)])),
  };
};

const meaningOfTask = (task: Task) => ({
  ...{ address: task.address, kind: task.kind, parent: task.parent, unit: task.unit, depth: task.depth },
  ...{ status: task.status, spec_hash: task.specHash, node: task.nodeIndex, runs: task.runs, fixes: task.fixes },
  ...{ counters: task.node.counters, signatures: task.signatures, degraded: task.degraded },
  accepted: task.accepted?.commit ?? null,
  candidate: task.candidate?.commit ?? null,
  running: task.current?.run ?? null,
  retry_at: task.retry?.at ?? null,
});

const meaningOfUnit = (unit: Unit) => ({
  ...{ affinity: unit.affinity, fix_attempts: unit.fixAttempts, depth: unit.depthReached, runs: unit.runs },
  ...{ recovering: unit.recovering, handoffs: unit.handoffs, handoff: unit.handoff?.id ?? null },
  causes: unit.handoff?.causes.length ?? 0,
  stalled_by: unit.stall?.rawHaltType ?? null,
});

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type Folded = Json;

/** What a later release says, without what the earlier one did not know yet. */
export const onlyWhatWasThere = (now: Json | undefined, then: Json): Json => {
  if (now === undefined) return null;
  if (isList(now) && isList(then)) {
    return now.map((item, index) => onlyWhatWasThere(item, then[index] ?? null));
  }
  if (!isRecord(now) || !isRecord(then)) return now;
  return Object.fromEntries(Object.entries(then).map(([key, value]) => [key, onlyWhatWasThere(now[key], value)]));
};

/** A row's cursor is that of the newest event that it shows, and a later release may show more of them. */
export const withoutCursors = (folded: Json): Json => {
  if (isList(folded)) return folded.map(withoutCursors);
  if (!isRecord(folded)) return folded;
  const kept = Object.entries(folded).filter(([key]) => key !== 'cursor');
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutCursors(value)]));
};

const isList = (json: Json): json is readonly Json[] => Array.isArray(json);
const isRecord = (json: Json): json is { readonly [key: string]: Json } =>
  typeof json === 'object' && json !== null && !Array.isArray(json);
