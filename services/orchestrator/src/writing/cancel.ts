import { taskIdAt } from '@fixpoint/contracts/addresses';
import type { Clock, Ids } from '@fixpoint/contracts/clock';
import type { CancelledTask, CancelTask } from '@fixpoint/contracts/rest/cancel';
import { cursorToken } from '@fixpoint/contracts/rest/cursor-token';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { type Publisher, publicationsOf } from '@fixpoint/messaging/publisher';
import type { Lineages } from '../lineages.ts';
import { revokeRuns } from './revoke-runs.ts';

const CANCEL = 'orchestrator__cancel';

export interface CancelDeps {
  readonly store: EventStore;
  readonly lineages: Lineages;
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly clock: Clock;
  readonly ids: Ids;
}

/**
 * Ends a lineage, or one child of it with all below it. Asked again, it changes nothing.
 * @param actor name of the API key.
 * @throws {LineageUnknown} @throws {Refused} `task_unknown`, `task_not_a_unit`, `task_already_ended`.
 */
export const cancelTask = async (
  deps: CancelDeps,
  { lineage, task, reason, actor }: CancelTask & { readonly lineage: string; readonly actor: string },
): Promise<CancelledTask> => {
  const cause = { id: deps.ids.uuid(), time: deps.clock.now().toISOString(), actor };
  const command = { type: 'cancel_task' as const, task: taskIdAt(lineage, task), reason };
  const decision = await deps.lineages.commandFor({ root: lineage, command, cause, nodeReady: null });
  const [outcome] = await deps.lineages.decide(CANCEL, [decision]);
  if (outcome?.outcome === 'refused') throw outcome.refused;
  if (outcome?.outcome !== 'decided') throw outcome?.error ?? new Error('a cancel was not decided');
  const { events } = outcome;
  deps.publisher.publish(publicationsOf(events, null));
  await revokeRuns(deps, events);
  const last = events.at(-1);
  return { lineage, task, changed: events.length > 0, cursor: last ? cursorToken(last.cursor) : null };
};
