import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { stoppedBy } from '@fixpoint/contracts/stopped';
import { lineageStream } from '@fixpoint/contracts/streams';

interface Streams {
  readStream(stream: string, fromVersion: number): Promise<readonly RecordedEvent[]>;
}

interface Followed {
  readonly version: number;
  readonly ended: ReadonlySet<string>;
}

/** Lineages that are followed; of one that was forgotten, everything is read again. */
const FOLLOWED = 1_000;

/**
 * Whether lineages say that a task has ended for good, for somebody who asks again and again: of each lineage only what
 * came since the last question is read, so that a long one costs no more than a short one.
 */
export const endedTasks = (
  store: Streams,
): ((of: { readonly root: string; readonly task: string }) => Promise<boolean>) => {
  const lineages = new Map<string, Followed>();
  return async ({ root, task }) => {
    const before = lineages.get(root) ?? { version: 0, ended: new Set<string>() };
    const now = after(before, await store.readStream(lineageStream(root), before.version + 1));
    lineages.delete(root);
    lineages.set(root, now);
    const [oldest] = lineages.keys();
    if (lineages.size > FOLLOWED && oldest !== undefined) lineages.delete(oldest);
    return now.ended.has(task);
  };
};

const after = ({ version, ended }: Followed, events: readonly RecordedEvent[]): Followed => ({
  version: events.at(-1)?.version ?? version,
  ended: new Set([...ended, ...events.flatMap(stoppedBy)]),
});
