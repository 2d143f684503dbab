import type { Client } from '@fixpoint/client/client';
import type { Ended } from '@fixpoint/client/wait-for-end';
import { type Cursor, compareCursors, type RecordedEvent } from '@fixpoint/contracts/envelope';
import type { Lineage } from '@fixpoint/contracts/rest/audit';
import { parseCursorToken } from '@fixpoint/contracts/rest/cursor-token';
import { EXIT } from './exit-codes.ts';

export interface WatchOptions {
  readonly timeoutMs: number;
  /** Ends the watch early. */
  readonly signal: AbortSignal;
  onEvent(event: RecordedEvent): void;
}

/** Tells every event of a lineage until it moves no more; resolves when the last one has been told. */
export const watchLineage = async (client: Client, lineage: string, options: WatchOptions): Promise<Ended> => {
  const left = new AbortController();
  let told: Cursor | null = null;
  let last: Cursor | null = null;
  const isOver = (): boolean => told !== null && last !== null && compareCursors(told, last) >= 0;
  const ended = client.waitForEnd(lineage, options.timeoutMs).then((result) => {
    last = result.ended ? parseCursorToken(result.lineage?.cursor ?? '') : null;
    if (last === null || isOver()) left.abort();
    return result;
  });
  for await (const event of client.follow(lineage, { signal: AbortSignal.any([left.signal, options.signal]) })) {
    options.onEvent(event);
    told = event.cursor;
    if (isOver()) break;
  }
  if (options.signal.aborted) return { ended: false, lineage: null };
  return ended;
};

/** The exit code of a lineage that was waited for. */
export const codeOfEnd = ({ ended, lineage }: Ended): number =>
  ended && lineage !== null ? codeOfStatus(lineage.status) : EXIT.timedOut;

/** The exit code for where a lineage stands. */
export const codeOfStatus = (status: Lineage['status']): number => CODES[status];

const CODES: Readonly<Record<Lineage['status'], number>> = {
  running: EXIT.timedOut,
  completed: EXIT.ok,
  degraded: EXIT.ok,
  blocked: EXIT.blocked,
  cancelled: EXIT.blocked,
  abandoned: EXIT.blocked,
  human: EXIT.human,
};
