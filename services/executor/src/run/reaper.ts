import type { Clock } from '@fixpoint/contracts/clock';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { readEvent } from '@fixpoint/contracts/events/parse-event';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { LEASE_TTL_MS, type Leases } from '@fixpoint/messaging/lease';
import { type Publisher, publicationsOf } from '@fixpoint/messaging/publisher';
import { nodeReadyOf } from '@fixpoint/messaging/run-lookup';
import { RunLost } from '../action-log.ts';
import { ACTION_PHASE } from './assignment.ts';
import { endLostRun } from './lost-run.ts';

/** How often each executor looks for runs whose owner is gone. */
const REAP_EVERY_MS = 2_000;
const MOST_AT_ONCE = 100;

export interface ReaperDeps {
  readonly store: EventStore;
  readonly publisher: Publisher;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly owner: string;
}

/**
 * Ends runs whose owner let its lease run out: the result is a fault, and the orchestrator answers with a new run. Every
 * executor does it; the version of the stream decides who was first. One run's error never stops the round. For a loop.
 */
export const reaper =
  (deps: ReaperDeps) =>
  async (signal: AbortSignal): Promise<void> => {
    await deps.clock.sleep(REAP_EVERY_MS, signal);
    if (signal.aborted) return;
    const overdue = await deps.leases.overdue(ACTION_PHASE, MOST_AT_ONCE);
    const errors: unknown[] = [];
    for (const { stream } of overdue) await reap(deps, stream).catch((error: unknown) => errors.push(error));
    if (errors.length > 0)
      throw new AggregateError(errors, `${errors.length} of ${overdue.length} lost runs were not ended`);
  };

const reap = async (deps: ReaperDeps, stream: string): Promise<void> => {
  const key = { stream, phase: ACTION_PHASE };
  const taken = await deps.leases.take({ ...key, owner: deps.owner, ttlMs: LEASE_TTL_MS });
  if (taken.lease === 'held') return;
  try {
    await endLost(deps, await deps.store.readStream(stream));
  } finally {
    await deps.leases.release(deps.owner, [key]);
  }
};

const endLost = async (deps: ReaperDeps, history: readonly RecordedEvent[]): Promise<void> => {
  const [started, ...rest] = history;
  if (started?.type !== 'action_started' || rest.some(({ type }) => type === 'node_verified_action')) return;
  const nodeReady = await nodeReadyOf(deps.store, readEvent(started, 'action_started'));
  if (nodeReady === null) return;
  try {
    const ended = await endLostRun(deps, { nodeReady, history: [started, ...rest] });
    deps.publisher.publish(publicationsOf(ended, nodeReady));
  } catch (error) {
    if (!(error instanceof RunLost)) throw error;
  }
};
