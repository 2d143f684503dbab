import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { Metrics } from './metrics.ts';

/** Notes how old each of these events is now that a reader has dealt with it. Clocks of two machines may disagree: never below 0. */
export const recordLag = (
  metrics: Metrics,
  reader: string,
  events: readonly Pick<RecordedEvent, 'occurred_at'>[],
): void => {
  if (!metrics.enabled) return;
  const nowMs = Date.now();
  for (const { occurred_at } of events) {
    const lagMs = Math.max(0, nowMs - Date.parse(occurred_at));
    metrics.record('fixpoint.event.lag', lagMs / 1_000, { 'fixpoint.reader': reader });
  }
};
