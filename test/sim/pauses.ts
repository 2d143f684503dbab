import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { parseEvent } from '@fixpoint/contracts/events/parse-event';

/** By this much, and a little more, a clock may be behind. */
const LATEST_MS = 200_000;

/** When pauses of providers end, of a log that grows: by a clock that is right, and by one that is as late as any. */
export const pauseEnds = (log: readonly RecordedEvent[]): (() => readonly number[]) => {
  const ends = new Map<string, string | null>();
  let read = 0;
  return () => {
    for (const recorded of log.slice(read)) {
      if (recorded.type !== 'provider_paused') continue;
      const event = parseEvent(recorded);
      if (event.type === 'provider_paused') ends.set(event.data.provider, event.data.until);
    }
    read = log.length;
    return [...ends.values()].flatMap((until) =>
      until === null ? [] : [Date.parse(until), Date.parse(until) + LATEST_MS],
    );
  };
};
