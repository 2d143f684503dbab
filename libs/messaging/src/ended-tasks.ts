import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { type Stopped, stoppedBy } from '@fixpoint/contracts/stopped';
import { lineageStream } from '@fixpoint/contracts/streams';

interface Streams {
  readStream(stream: string, fromVersion: number): Promise<readonly RecordedEvent[]>;
}

interface Followed {
  readonly version: number;
  readonly ended: readonly Stopped[];
}

/** Lineages that are followed; of one that was forgotten, everything is read again. */
const FOLLOWED = 1_000;

/** Something that is done for a task: for one of its runs, or for none. */
export interface DoneFor {
  readonly task: string;
  readonly run?: number;
}

/** Whether what is over is what this was done for. */
export const concerns = (stopped: Stopped, { task, run }: DoneFor): boolean =>
  stopped.task === task && (stopped.run === null || stopped.run === run);

/**
 * Whether lineages say that a task has ended for good, or the run that something is done for, for somebody who asks again and again: of each lineage only what
 * came since the last question is read, so that a long one costs no more than a short one.
 */
export const endedTasks = (store: Streams): ((of: DoneFor & { readonly root: string }) => Promise<boolean>) => {
  const lineages = new Map<string, Followed>();
  return async ({ root, ...work }) => {
    const before = lineages.get(root) ?? { version: 0, ended: [] };
    const now = after(before, await store.readStream(lineageStream(root), before.version + 1));
    lineages.delete(root);
    lineages.set(root, now);
    const [oldest] = lineages.keys();
    if (lineages.size > FOLLOWED && oldest !== undefined) lineages.delete(oldest);
    return now.ended.some((stopped) => concerns(stopped, work));
  };
};

const after = ({ version, ended }: Followed, events: readonly RecordedEvent[]): Followed => ({
  version: events.at(-1)?.version ?? version,
  ended: [...ended, ...events.flatMap(stoppedBy)],
});
