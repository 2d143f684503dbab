import type { Clock } from '@fixpoint/contracts/clock';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { readEvent } from '@fixpoint/contracts/events/parse-event';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { actionLog } from '../action-log.ts';
import { faultedReport } from './run-report.ts';

const EXECUTOR_REAP = 'executor__reap';

export interface LostRunDeps {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly owner: string;
}

export interface LostRun {
  readonly nodeReady: RecordedEvent;
  /** Of the action stream: starts with `action_started` and has no end. */
  readonly history: readonly [RecordedEvent, ...RecordedEvent[]];
}

/**
 * Ends a run whose owner is gone. One loss has one cause and one author, whoever comes upon it and on whatever occasion:
 * the same event, so that a message that came twice leaves no trace.
 * @throws {RunLost} when somebody else was first.
 */
export const endLostRun = async (
  { store, clock, owner: finder }: LostRunDeps,
  { nodeReady, history }: LostRun,
): Promise<readonly RecordedEvent[]> => {
  const [started] = history;
  const { root, owner } = readEvent(started, 'action_started');
  const log = actionLog(
    { store, clock, producer: EXECUTOR_REAP },
    { stream: started.stream, root, cause: started },
    history,
  );
  const data = faultedReport(readEvent(nodeReady, 'node_ready'), {
    class: 'lost_executor',
    detail: `${owner} let its lease run out; found by ${finder}`,
    durationMs: 0,
  });
  return log.append({ type: 'declare_lost', data });
};
