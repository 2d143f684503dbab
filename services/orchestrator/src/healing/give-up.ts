import type { Clock } from '@fixpoint/contracts/clock';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { NodeReady } from '@fixpoint/contracts/events/lineage-events';
import { runRevoked } from '@fixpoint/contracts/events/lineage-events';
import { actionStream } from '@fixpoint/contracts/streams';
import type { Cause } from '@fixpoint/event-store/decision-plan';
import { eventId } from '@fixpoint/event-store/event-id';
import type { EventStore } from '@fixpoint/event-store/event-store';
import type { LineageAnswer } from '../reactions/react.ts';
import type { RunResults } from '../run-results.ts';
import type { Waiting } from '../waits/wait-rows.ts';

export const HEALER = 'orchestrator__heal';

export interface GiveUpDeps {
  readonly store: EventStore;
  readonly results: RunResults;
  readonly clock: Pick<Clock, 'now'>;
}

/** One wait has one cause, however often its end is noticed. */
export const causeOf = (row: Waiting): Omit<Cause, 'correlation_id'> => ({
  id: `unanswered:${row.task}:${row.kind}:${row.run}`,
  time: row.since,
  actor: 'system',
});

/**
 * What a hop that did not answer means. Before its start a run is revoked, so that it can never start, and gated anew:
 * queues are nobody's fault. After it only a check tells. A result that nobody judged is checked and judged anew, a
 * council is asked under a new number.
 * @returns null when there is something to wait for after all.
 */
export const giveUp = async (
  deps: GiveUpDeps,
  row: Waiting,
  ready: NodeReady | null,
): Promise<LineageAnswer | null> => {
  if (row.kind === 'council') return { type: 'give_up_request', task: row.task, request: row.run, ...SILENT };
  if (ready === null) return null;
  const stream = actionStream(row.task, row.run);
  if (row.kind === 'judge') return noJudgement(row, (await deps.results.of([stream])).get(stream));
  if (row.kind === 'gate' || (row.kind === 'action' && !row.started)) return revoke(deps, row, ready);
  if (await hasResult(deps, stream)) return null;
  return { ...fault(row), phase: 'action', effects: 'possible', result: null };
};

const SILENT = {
  class: 'no_answer',
  retryAfterMs: 0,
  detail: 'the council did not answer within its time-out',
} as const;

const noJudgement = (
  row: Waiting,
  result: Extract<LineageAnswer, { type: 'fault_run' }>['result'] | undefined,
): LineageAnswer | null => (result ? { ...fault(row), phase: 'judge', effects: 'none', result } : null);

const silent = ({ kind, task, run }: Waiting) => ({ task, run, detail: `${kind} did not answer within its time-out` });

const fault = (row: Waiting) => ({
  ...silent(row),
  type: 'fault_run' as const,
  class: 'no_answer' as const,
  retryAfterMs: 0,
});

/** Version 1 of the action stream is either `action_started` or `run_revoked`. */
const revoke = async (deps: GiveUpDeps, row: Waiting, ready: NodeReady): Promise<LineageAnswer | null> => {
  const { store } = deps;
  const stream = actionStream(row.task, row.run);
  const events = [revocation(deps, row, ready)];
  const { outcome } = await store.append({ stream, root: row.root, expectedVersion: 0, events });
  const [first] = outcome === 'appended' ? events : await store.readStream(stream);
  return first?.type === runRevoked.type ? { ...silent(row), type: 'regate_run' } : null;
};

const revocation = ({ clock }: GiveUpDeps, row: Waiting, { root, task, address, run }: NodeReady) => {
  const { id, time, actor } = causeOf(row);
  const stream = actionStream(task, run);
  return {
    id: eventId({ causeId: id, causeTime: time, handler: HEALER, stream, index: 0 }),
    type: runRevoked.type,
    schema_version: runRevoked.version,
    data: { root, task, address, run, reason: 'no_answer' },
    metadata: { causation_id: id, correlation_id: root, producer: HEALER, actor },
    occurred_at: clock.now().toISOString(),
  };
};

const hasResult = async ({ store }: GiveUpDeps, stream: string): Promise<boolean> =>
  (await store.readStream(stream)).some((event: RecordedEvent) => event.type === 'node_verified_action');
