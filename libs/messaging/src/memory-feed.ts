import { type CloudEvent, cloudEventOf } from '@fixpoint/contracts/cloud-event';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { type Feed, type FeedEnd, FeedMoved } from './feed.ts';

export interface FeedMessage extends CloudEvent {
  readonly subject: string;
}

/** What several feeds in one process write to, for specs: it ends with the process. */
export class MemoryFeedStream {
  readonly events: RecordedEvent[] = [];
  /** Grows with every loss too, so that nobody takes the new stream for the old one. */
  generation = 0;

  get messages(): readonly FeedMessage[] {
    return this.events.map((event) => ({
      subject: `fixpoint.events.${event.type}`,
      ...cloudEventOf(event, '/fixpoint'),
    }));
  }

  /** Loses everything behind the first `kept` messages, as a broker that was restored. */
  lose(kept: number): void {
    this.events.splice(kept);
    this.generation += 1;
  }
}

/** A writer of a feed in this process. */
export const memoryFeed = (stream: MemoryFeedStream): Feed => {
  let known: { readonly generation: number; length: number } | null = null;
  const isCurrent = (): boolean => known !== null && known.generation === stream.generation;
  return {
    open: async () => {
      known = { generation: stream.generation, length: stream.events.length };
      return endOf(stream);
    },
    isOpen: isCurrent,
    append: async (events, pace) => {
      const at = known;
      known = null;
      if (at === null || at.generation !== stream.generation || at.length !== stream.events.length)
        throw new FeedMoved('The feed was moved by somebody else');
      const isKnown = ({ id }: RecordedEvent): boolean => stream.events.some((event) => event.id === id);
      if (pace === 'together' && events.some(isKnown)) throw new FeedMoved('The feed has one of these already');
      stream.events.push(...events.filter((event) => !isKnown(event)));
      known = { generation: at.generation, length: stream.events.length };
    },
  };
};

const endOf = ({ events }: MemoryFeedStream): FeedEnd => {
  const last = events.at(-1);
  if (last === undefined) return { end: 'new' };
  const { id, stream, version, cursor } = last;
  return { end: 'event', id, stream, version, cursor };
};
