import type { Clock } from '@fixpoint/contracts/clock';
import type { Metrics } from '@fixpoint/runtime/telemetry/metrics';
import type { ProviderCounts } from '../providers/provider-row.ts';
import type { Standing } from './queue.ts';

/** Shows how many providers are paused, and how many of them wait for a human. */
export const measureProviders =
  (metrics: Metrics) =>
  (counts: ProviderCounts): void => {
    if (!metrics.enabled) return;
    for (const [state, count] of Object.entries(counts))
      metrics.set('fixpoint.provider.count', count, { 'fixpoint.provider.state': state });
  };

/** Shows how long the queue is, how long the oldest run in it has waited, and how many runs are in flight. */
export const measureQueue =
  (metrics: Metrics, clock: Pick<Clock, 'now'>) =>
  ({ length, oldest, projects }: Standing): void => {
    if (!metrics.enabled) return;
    const waitedMs = oldest === null ? 0 : Math.max(0, clock.now().getTime() - Date.parse(oldest));
    metrics.set('fixpoint.queue.length', length);
    metrics.set('fixpoint.queue.age', waitedMs / 1_000);
    metrics.set(
      'fixpoint.run.in_flight',
      projects.reduce((sum, { running }) => sum + running, 0),
    );
  };
