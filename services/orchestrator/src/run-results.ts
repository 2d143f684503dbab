import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { readEvent, UnreadableEvent } from '@fixpoint/contracts/events/parse-event';
import { actionStream } from '@fixpoint/contracts/streams';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { LRUCache } from 'lru-cache';
import type { RunResult } from './domain/lineage/commands.ts';

const KEPT = 10_000;

/** What runs left: heard of when they ended, or read from their action streams. */
export interface RunResults {
  remember(result: RunResult): void;
  /** Reads only what was not heard of. A run that has not ended is missing from the answer. */
  of(streams: readonly string[]): Promise<ReadonlyMap<string, RunResult>>;
}

export const runResults = (store: Pick<EventStore, 'readStreams'>): RunResults => {
  const heard = new LRUCache<string, RunResult>({ max: KEPT });
  return {
    remember: (result) => heard.set(actionStream(result.task, result.run), result),
    of: async (streams) => {
      const missing = streams.filter((stream) => heard.get(stream) === undefined);
      const read = missing.length === 0 ? new Map<string, RecordedEvent[]>() : await store.readStreams(missing);
      const found = streams.map((stream) => [stream, heard.get(stream) ?? resultIn(read.get(stream) ?? [])] as const);
      return new Map(found.flatMap(([stream, result]) => (result ? [[stream, result] as const] : [])));
    },
  };
};

/** One that can't be read is missing like one that is not there: the runs asked about beside it must not wait for it. */
const resultIn = (events: readonly RecordedEvent[]): RunResult | undefined => {
  const ended = events.find((event) => event.type === 'node_verified_action');
  try {
    return ended && readEvent(ended, 'node_verified_action');
  } catch (error) {
    if (error instanceof UnreadableEvent) return undefined;
    throw error;
  }
};
