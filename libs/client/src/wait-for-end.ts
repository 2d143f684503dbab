import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { Lineage } from '@fixpoint/contracts/rest/audit';
import { cursorToken } from '@fixpoint/contracts/rest/cursor-token';
import { ApiError, Unreachable } from './api-error.ts';

/** How a wait came out. */
export interface Ended {
  /** False: the time ran out first. */
  readonly ended: boolean;
  /** As last seen; null when it was never seen (unknown id, or nobody answered). */
  readonly lineage: Lineage | null;
}

/** What is known of one lineage. */
export interface Watched {
  /** @param after cursor of an event that it must show. */
  lineage(after?: string): Promise<Lineage>;
  events(signal: AbortSignal): AsyncIterable<RecordedEvent>;
}

/** Only these can change the status; others need no second look. */
const DECISIVE = new Set([
  'task_completed',
  'task_blocked',
  'task_cancelled',
  'task_abandoned',
  'human_required',
  'handoff_withdrawn',
  'recompose_failed',
]);

/** Between two questions while nobody answers. */
const AGAIN_MS = 500;

/** Waits until a lineage is not `running` any more, looking only when something decisive happened. */
export const waitForEnd = async (watched: Watched, timeoutMs: number): Promise<Ended> => {
  const late = AbortSignal.timeout(timeoutMs);
  let seen = await looked(watched);
  if (isOver(seen)) return { ended: true, lineage: seen };
  for await (const event of watched.events(late)) {
    if (!DECISIVE.has(event.type)) continue;
    seen = (await seenAfter(event, watched, late)) ?? seen;
    if (isOver(seen)) return { ended: true, lineage: seen };
  }
  seen = (await looked(watched)) ?? seen;
  return { ended: isOver(seen), lineage: seen };
};

const isOver = (lineage: Lineage | null): boolean => lineage !== null && lineage.status !== 'running';

/** No later event may ever come, so this one's effect has to be seen; null when the time ran out over it. */
const seenAfter = async (event: RecordedEvent, watched: Watched, late: AbortSignal): Promise<Lineage | null> => {
  for (;;) {
    const lineage = await looked(watched, cursorToken(event.cursor));
    if (lineage !== null || late.aborted) return lineage;
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
};

/** Null when it is not there yet, or nobody answers for the moment. */
const looked = async (watched: Watched, after?: string): Promise<Lineage | null> => {
  try {
    return await watched.lineage(after);
  } catch (error) {
    const isPassing =
      error instanceof Unreachable || (error instanceof ApiError && (error.status === 404 || error.status >= 500));
    if (isPassing) return null;
    throw error;
  }
};
