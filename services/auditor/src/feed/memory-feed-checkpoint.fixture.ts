import { CURSOR_START, type Cursor } from '@fixpoint/contracts/envelope';
import type { FeedCheckpoint } from './feed-checkpoint.ts';

/** What several processes of a spec share; a claim ends when it is released or ended here. */
export class MemoryCheckpointRow {
  cursor: Cursor = CURSOR_START;
  owner: string | null = null;
  fence = 0;

  /** The lease of an owner that went silent is over. */
  expire(): void {
    this.owner = null;
  }
}

export const memoryFeedCheckpoint = (
  row: MemoryCheckpointRow,
  owner: string,
  beginning: Cursor = CURSOR_START,
): FeedCheckpoint => ({
  leaseMs: 10_000,
  claim: async () => {
    if (row.owner !== null && row.owner !== owner) return null;
    row.owner = owner;
    row.fence += 1;
    return { fence: String(row.fence), cursor: row.cursor };
  },
  move: async (fence, next) => {
    if (fence !== String(row.fence)) return false;
    row.cursor = next;
    return true;
  },
  release: async (fence) => {
    if (fence === String(row.fence)) row.owner = null;
  },
  beginning: async () => beginning,
});
