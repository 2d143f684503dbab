import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { readEvent } from '@fixpoint/contracts/events/parse-event';
import { stoppedBy } from '@fixpoint/contracts/stopped';
import { lineageStream } from '@fixpoint/contracts/streams';
import type { Offer } from './bus.ts';
import { concerns, type DoneFor } from './ended-tasks.ts';

/** Reads one stream of the event store, in version order. */
interface Streams {
  readStream(stream: string): Promise<readonly RecordedEvent[]>;
}

interface RunRef {
  readonly root: string;
  readonly task: string;
  readonly run: number;
}

/** The `node_ready` behind a run: what the message carried, else what the lineage has; null when neither has one. */
export const nodeReadyBehind = async (store: Streams, offer: Offer, run: RunRef): Promise<RecordedEvent | null> =>
  offer.nodeReady ?? nodeReadyOf(store, run);

/** The `node_ready` of a run as the lineage has it, or null. */
export const nodeReadyOf = async (store: Streams, run: RunRef): Promise<RecordedEvent | null> => {
  const events = await store.readStream(lineageStream(run.root));
  return events.find((event) => event.type === 'node_ready' && isOf(readEvent(event, 'node_ready'), run)) ?? null;
};

const isOf = (data: RunRef, run: RunRef): boolean => data.task === run.task && data.run === run.run;

/** Whether the lineage says that a run, or its task for good, is over: stop events may be missed. */
export const hasEnded = async (
  store: Streams,
  { root, ...work }: DoneFor & { readonly root: string },
): Promise<boolean> => {
  const events = await store.readStream(lineageStream(root));
  return events.flatMap(stoppedBy).some((stopped) => concerns(stopped, work));
};
