import { compareCursors } from '@fixpoint/contracts/envelope';
import type { EventStore } from '@fixpoint/event-store/event-store';

/** Waits until everything committed is below the watermark: tests share their server, and any of its writers holds it back. */
export const allVisible = async (store: Pick<EventStore, 'watermark' | 'changed'>): Promise<void> => {
  const isHeld = async (): Promise<boolean> => {
    const { visible, newest } = await store.watermark();
    return compareCursors(visible, newest) < 0;
  };
  while (await isHeld()) await store.changed(5, AbortSignal.timeout(5));
};
