import { ROOT_ADDRESS } from '@fixpoint/contracts/addresses';
import type { Clock } from '@fixpoint/contracts/clock';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { runRevoked } from '@fixpoint/contracts/events/lineage-events';
import { parseEvent } from '@fixpoint/contracts/events/parse-event';
import { actionStream } from '@fixpoint/contracts/streams';
import { eventId } from '@fixpoint/event-store/event-id';
import type { EventStore } from '@fixpoint/event-store/event-store';
import type { Lineages } from '../lineages.ts';

const REVOKE = 'orchestrator__revoke';

export interface RevokeDeps {
  readonly store: Pick<EventStore, 'append'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly lineages: Pick<Lineages, 'commandFor' | 'decide'>;
}

/**
 * Runs of a unit that ended, or in whose place a human had another one, can never start from now on: version 1 of their streams is taken. One that has started is
 * stopped by its executor, and whatever is missed here is found by the executor when it asks the store before it starts.
 * What was reserved for those that never start is free again.
 */
export const revokeRuns = async (deps: RevokeDeps, events: readonly RecordedEvent[]): Promise<void> => {
  for (const event of events) {
    for (const run of stoppedIn(event)) {
      const { outcome } = await deps.store.append(revocation(deps.clock, event, run));
      if (outcome === 'appended') await freeReservation(deps, event, run);
    }
  }
};

const freeReservation = async ({ lineages }: RevokeDeps, { root, ...event }: RecordedEvent, run: StoppedRun) => {
  const cause = { id: `revoked:${run.task}:${run.run}`, time: event.occurred_at, actor: event.metadata.actor };
  const command = { type: 'regate_run' as const, ...run, detail: event.type };
  const [outcome] = await lineages.decide(REVOKE, [
    await lineages.commandFor({ root, command, cause, nodeReady: null }),
  ]);
  if (outcome?.outcome === 'failed') throw outcome.error;
};

type StoppedRun = { readonly task: string; readonly run: number };

const STOPS: ReadonlySet<string> = new Set(['task_cancelled', 'task_abandoned', 'human_decided']);

const stoppedIn = (event: RecordedEvent): readonly StoppedRun[] => {
  if (!STOPS.has(event.type)) return [];
  const { data } = parseEvent(event);
  return 'stopped_runs' in data ? (data.stopped_runs ?? []) : [];
};

const revocation = (clock: Pick<Clock, 'now'>, cause: RecordedEvent, { task, run }: StoppedRun) => {
  const stream = actionStream(task, run);
  const { root, metadata } = cause;
  const address = `${ROOT_ADDRESS}${task.slice(root.length).replaceAll('.f', '~')}`;
  const data = { root, task, address, run, reason: cause.type };
  const id = eventId({ causeId: cause.id, causeTime: cause.occurred_at, handler: REVOKE, stream, index: 0 });
  const told = { causation_id: cause.id, correlation_id: root, producer: REVOKE, actor: metadata.actor };
  const { type, version } = runRevoked;
  const event = { id, type, schema_version: version, data, metadata: told, occurred_at: clock.now().toISOString() };
  return { stream, root, expectedVersion: 0, events: [event] };
};
