import type { AskingRun, ProviderFaultClass } from '@fixpoint/contracts/events/provider-events';
import { fold } from '@fixpoint/decider/decider';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { after } from '../lineage/backoff.ts';
import { MOST_PAUSES, pausedUntil } from './pauses.ts';
import { type Provider, type ProviderCommand, type ProviderEvent, provider } from './provider.ts';

const START = '2026-01-01T00:00:00.000Z';
const NAME = 'model.default';
const HOUR_MS = 60 * 60_000;

const runs: fc.Arbitrary<AskingRun> = fc
  .tuple(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 1, max: 3 }))
  .map(([root, run]) => ({ root, task: root, run }));
const classes = fc.constantFrom<ProviderFaultClass[]>('network', 'rate_limit', 'provider_auth');
const faults = fc.record({
  class: classes,
  detail: fc.constant(''),
  retryAfterMs: fc.constantFrom(0, 1_000, 3 * HOUR_MS),
});
const jitter = fc.double({ min: 0, max: 0.999, noNaN: true });

type Timeless = (now: string) => ProviderCommand;
const commands: fc.Arbitrary<Timeless> = fc.oneof(
  fc.record({ by: runs, fault: faults, jitter }).map(
    ({ by, fault, jitter: drawn }): Timeless =>
      (now) => ({ type: 'report_fault', provider: NAME, by, ...fault, jitter: drawn, now }),
  ),
  runs.map(
    (probe): Timeless =>
      (now) => ({ type: 'start_probe', provider: NAME, probe, now }),
  ),
  fc.record({ probe: runs, fault: fc.option(faults), jitter }).map(
    ({ probe, fault, jitter: drawn }): Timeless =>
      (now) => ({ type: 'end_probe', provider: NAME, probe, fault, jitter: drawn, now }),
  ),
  fc.constant<Timeless>((now) => ({ type: 'retry_provider', provider: NAME, reason: '', now })),
);

interface Step {
  readonly waitMs: number;
  readonly command: Timeless;
}
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({ waitMs: fc.constantFrom(0, 1, 5_000, 20_000, HOUR_MS), command: commands }),
  { maxLength: 40 },
);

const history = (script: readonly Step[]): { events: ProviderEvent[]; state: Provider; now: string } => {
  const events: ProviderEvent[] = [];
  let state = provider.initial;
  let now = START;
  for (const { waitMs, command } of script) {
    now = after(now, waitMs);
    const decided = provider.decide(command(now), state);
    events.push(...decided);
    state = fold(provider, state, decided);
  }
  return { events, state, now };
};

test('a command that was accepted changes nothing when it comes again at once', () => {
  fc.assert(
    fc.property(steps, commands, (script, command) => {
      const { state, now } = history(script);
      const later = fold(provider, state, provider.decide(command(now), state));
      const again = provider.decide(command(now), later);
      // A human may say it twice.
      expect(again.filter(({ type }) => type !== 'provider_retry_asked')).toEqual([]);
    }),
  );
});

test('there is never more than one probe', () => {
  fc.assert(
    fc.property(steps, (script) => {
      let open = 0;
      for (const { type } of history(script).events) {
        if (type === 'provider_probed') open += 1;
        if (type === 'provider_paused' || type === 'provider_resumed') open = 0;
        expect(open).toBeLessThanOrEqual(1);
      }
    }),
  );
});

test('a pause is never shorter than four fifths of its length, nor than its provider asked for, nor longer than an hour', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: MOST_PAUSES }), fc.nat(3 * HOUR_MS), jitter, (count, retryAfterMs, drawn) => {
      const until = pausedUntil({ count, retryAfterMs, jitter: drawn, now: START });
      const ms = Date.parse(until ?? '') - Date.parse(START);
      const longest = Math.min(15_000 * 2 ** (count - 1), HOUR_MS / 4);
      expect(ms).toBeGreaterThanOrEqual(Math.max(0.8 * longest, Math.min(retryAfterMs, HOUR_MS)) - 1);
      expect(ms).toBeLessThanOrEqual(Math.max(longest, Math.min(retryAfterMs, HOUR_MS)));
    }),
  );
});

const isWithHuman = (state: Provider): boolean => state.status === 'paused' && state.pause.until === null;

/** One run probes as soon as it may, and meets `fault`. */
const probeOnce = (state: Provider, now: string, fault: ProviderFaultClass | null): Provider => {
  if (state.status === 'open') return state;
  const until = state.pause.until ?? now;
  const time = until > now ? until : now;
  const probe = state.status === 'probing' ? state.probe : { root: 'z', task: 'z', run: state.pause.count + 1 };
  const met = fault && { class: fault, detail: '', retryAfterMs: 0 };
  const about = { provider: NAME, probe, now: time };
  const begun = fold(provider, state, provider.decide({ type: 'start_probe', ...about }, state));
  return fold(provider, begun, provider.decide({ type: 'end_probe', ...about, fault: met, jitter: 0.5 }, begun));
};

/** Probes until it is open or a human's; far later than any pause lasts. */
const ends = (state: Provider, now: string, fault: ProviderFaultClass | null): Provider => {
  let current = state;
  let time = now;
  for (let round = 0; round <= MOST_PAUSES && current.status !== 'open' && !isWithHuman(current); round += 1) {
    current = probeOnce(current, time, fault);
    time = after(time, HOUR_MS);
  }
  return current;
};

test('every pause ends: with a provider that is back by itself, with one that stays away with one human', () => {
  fc.assert(
    fc.property(steps, (script) => {
      const { state, now } = history(script);
      if (state.status === 'open') return;
      expect(ends(state, now, null).status).toBe(isWithHuman(state) ? 'paused' : 'open');
      expect(ends(state, now, 'network')).toMatchObject({ status: 'paused', pause: { until: null } });
      const asked = provider.decide({ type: 'retry_provider', provider: NAME, reason: '', now }, state);
      expect(ends(fold(provider, state, asked), now, null).status).toBe('open');
    }),
  );
});
