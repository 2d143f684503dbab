import type { Clock } from '@fixpoint/contracts/clock';
import type { PostgresArtifacts } from '@fixpoint/event-store/postgres-artifacts';

const EVERY_MS = 3_600_000;
/** Longer than any upload takes. */
const OLDER_THAN_MS = 24 * 3_600_000;

export interface UnfinishedUploadsDeps {
  readonly artifacts: Pick<PostgresArtifacts, 'removeUnfinished'>;
  readonly clock: Pick<Clock, 'sleep'>;
}

/** Removes what uploads of processes that were killed left in the store; all executors may do it. For a loop. */
export const unfinishedUploads =
  ({ artifacts, clock }: UnfinishedUploadsDeps) =>
  async (signal: AbortSignal): Promise<void> => {
    await clock.sleep(EVERY_MS, signal);
    if (!signal.aborted) await artifacts.removeUnfinished(OLDER_THAN_MS);
  };
