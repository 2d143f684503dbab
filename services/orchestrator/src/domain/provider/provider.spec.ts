import type { AskingRun } from '@fixpoint/contracts/events/provider-events';
import { given } from '@fixpoint/decider/given';
import { describe, expect, test } from '@jest/globals';
import { after } from '../lineage/backoff.ts';
import { MOST_PAUSES } from './pauses.ts';
import { type EndProbe, type ProviderCommand, type ProviderEvent, provider, type ReportFault } from './provider.ts';

const NAME = 'git.example.org';
const NOW = '2026-01-01T00:00:00.000Z';
const HOUR_MS = 60 * 60_000;
const at = (ms: number): string => after(NOW, ms);
const runOf = (root: string, run = 1): AskingRun => ({ root, task: root, run });

const report = (by: AskingRun, ms: number, more: Partial<ReportFault> = {}): ReportFault => ({
  ...{ type: 'report_fault', provider: NAME, class: 'network', by, detail: 'no route', retryAfterMs: 0 },
  ...{ jitter: 0, now: at(ms), ...more },
});
const startProbe = (probe: AskingRun, ms: number): ProviderCommand => ({
  ...{ type: 'start_probe', provider: NAME, probe, now: at(ms) },
});
const endProbe = (probe: AskingRun, ms: number, fault: EndProbe['fault']): ProviderCommand => ({
  ...{ type: 'end_probe', provider: NAME, probe, fault, jitter: 0, now: at(ms) },
});
const retry = (ms: number): ProviderCommand => ({
  ...{ type: 'retry_provider', provider: NAME, reason: 'it is back', now: at(ms) },
});

const seen = (by: AskingRun, ms: number, name: ReportFault['class'] = 'network'): ProviderEvent => ({
  type: 'provider_faulted',
  data: { provider: NAME, class: name, seen_by: by, detail: 'no route', faulted_at: at(ms) },
});
type Paused = Extract<ProviderEvent, { type: 'provider_paused' }>['data'];
const paused = (ms: number, until: number | null, more: Partial<Paused> = {}): ProviderEvent => ({
  type: 'provider_paused',
  data: {
    ...{ provider: NAME, class: 'network', reason: 'storm', count: 1, since: at(ms), detail: 'no route' },
    ...{ until: until === null ? null : at(until), paused_at: at(ms), ...more },
  },
});
const probed = (probe: AskingRun, ms: number): ProviderEvent => ({
  type: 'provider_probed',
  data: { provider: NAME, probe, probed_at: at(ms) },
});
const resumed = (probe: AskingRun, ms: number, count = 1, since = 0): ProviderEvent => ({
  type: 'provider_resumed',
  data: { provider: NAME, probe, count, since: at(since), resumed_at: at(ms) },
});
const retryAsked = (ms: number): ProviderEvent => ({
  type: 'provider_retry_asked',
  data: { provider: NAME, reason: 'it is back', asked_at: at(ms) },
});

const NETWORK = { class: 'network', detail: 'no route', retryAfterMs: 0 } as const;
const [A, B, C] = [runOf('a'), runOf('b'), runOf('c')];
/** Four faults of two lineages. */
const nearly = [seen(A, 0), seen(B, 1), seen(runOf('a', 2), 2), seen(runOf('b', 2), 3)];
const stormy = paused(0, 15_000);
const probing = [stormy, probed(C, 15_000)];
const handedOff = paused(0, null, { reason: 'refused_key', class: 'provider_auth' });

describe('when open', () => {
  test('counts a fault', () => given(provider).when(report(A, 0)).then(seen(A, 0)));
  test('counts the fault of a run once', () => given(provider, seen(A, 0)).when(report(A, 1)).thenNothing());
  test('is paused by the fifth fault of one class within a minute', () =>
    given(provider, ...nearly)
      .when(report(C, 4))
      .then(seen(C, 4), paused(4, 15_004)));
  test('is not paused by one lineage alone, however often', () =>
    given(provider, ...[1, 2, 3, 4].map((run) => seen(runOf('a', run), run)))
      .when(report(runOf('a', 5), 5))
      .then(seen(runOf('a', 5), 5)));
  test('does not add faults of different classes', () =>
    given(provider, ...nearly)
      .when(report(C, 4, { class: 'rate_limit' }))
      .then(seen(C, 4, 'rate_limit')));
  test('forgets faults after a minute', () =>
    given(provider, ...nearly)
      .when(report(C, 60_000))
      .then(seen(C, 60_000)));
  test('H-B17 is handed to a human by the first refused key', () =>
    given(provider)
      .when(report(A, 0, { class: 'provider_auth' }))
      .then(seen(A, 0, 'provider_auth'), paused(0, null, { class: 'provider_auth', reason: 'refused_key' })));
  test('I-T25 is paused for as long as it asks for itself', () =>
    given(provider, ...nearly)
      .when(report(C, 4, { retryAfterMs: 90_000 }))
      .then(seen(C, 4), paused(4, 90_004)));
  test('is asked again after an hour, whatever it asked for', () =>
    given(provider, ...nearly)
      .when(report(C, 4, { retryAfterMs: 24 * HOUR_MS }))
      .then(seen(C, 4), paused(4, HOUR_MS + 4)));
  test('is probed by nobody', () => given(provider).when(startProbe(A, 0)).thenNothing());
  test('hears of no probe that ends', () =>
    given(provider)
      .when(endProbe(A, 0, NETWORK))
      .thenNothing());
  test('need not be tried again', () => given(provider).when(retry(0)).thenNothing());
});

describe('when open again', () => {
  const again = [...probing, resumed(C, 20_000)];

  test('is paused for longer by the first fault that comes soon', () =>
    given(provider, ...again)
      .when(report(A, 30_000))
      .then(seen(A, 30_000), paused(30_000, 60_000, { count: 2, reason: 'relapse' })));
  test('is like any other after a quarter of an hour', () =>
    given(provider, ...again)
      .when(report(A, 20_000 + HOUR_MS / 4))
      .then(seen(A, 20_000 + HOUR_MS / 4)));
});

describe('when paused', () => {
  test('learns nothing from runs that were under way', () => given(provider, stormy).when(report(A, 1)).thenNothing());
  test('I-T25 waits for the later time that it names', () =>
    given(provider, stormy)
      .when(report(A, 1, { class: 'rate_limit', retryAfterMs: 60_000 }))
      .then(paused(1, 60_001, { since: at(0), class: 'rate_limit', reason: 'retry_after' })));
  test('H-B17 is handed to a human when it refuses a key', () =>
    given(provider, stormy)
      .when(report(A, 1, { class: 'provider_auth' }))
      .then(paused(1, null, { since: at(0), class: 'provider_auth', reason: 'refused_key' })));
  test('is not probed before its time', () => given(provider, stormy).when(startProbe(A, 14_999)).thenNothing());
  test('is probed by one run when its time is up', () =>
    given(provider, stormy).when(startProbe(C, 15_000)).then(probed(C, 15_000)));
  test('hears of no probe that ends', () =>
    given(provider, stormy)
      .when(endProbe(A, 1, null))
      .thenNothing());
  test('may be tried at once, when a human says so', () => {
    given(provider, stormy).when(retry(1)).then(retryAsked(1));
    given(provider, stormy, retryAsked(1)).when(startProbe(C, 1)).then(probed(C, 1));
  });
});

describe('when handed to a human', () => {
  test('is one handoff, whoever meets a fault', () => {
    given(provider, handedOff).when(report(A, 1)).thenNothing();
    given(provider, handedOff)
      .when(report(A, 1, { class: 'provider_auth' }))
      .thenNothing();
  });
  test('is probed by nobody, however long it takes', () =>
    given(provider, handedOff)
      .when(startProbe(A, 24 * HOUR_MS))
      .thenNothing());
  test('hears of no probe that ends', () =>
    given(provider, handedOff)
      .when(endProbe(A, 1, null))
      .thenNothing());
  test('is tried when the human says so, and counted anew', () => {
    given(provider, handedOff).when(retry(1)).then(retryAsked(1));
    given(provider, handedOff, retryAsked(1), probed(C, 2))
      .when(endProbe(C, 3, NETWORK))
      .then(paused(3, 15_003, { since: at(0), reason: 'probe_failed' }));
  });
});

describe('when probed', () => {
  test('learns nothing from other runs', () =>
    given(provider, ...probing)
      .when(report(A, 15_001))
      .thenNothing());
  test('is paused for twice as long when the probe meets a fault', () => {
    const longer = paused(16_000, 46_000, { count: 2, since: at(0), reason: 'probe_failed' });
    given(provider, ...probing)
      .when(report(C, 16_000))
      .then(longer);
    given(provider, ...probing)
      .when(endProbe(C, 16_000, NETWORK))
      .then(longer);
  });
  test('is paused for twice as long when the probe came to nothing', () =>
    given(provider, ...probing)
      .when(endProbe(C, 16_000, { ...NETWORK, class: null, detail: 'never begun' }))
      .then(paused(16_000, 46_000, { count: 2, since: at(0), reason: 'probe_failed', detail: 'never begun' })));
  test('is handed to a human when it refuses the probe’s key', () =>
    given(provider, ...probing)
      .when(endProbe(C, 16_000, { ...NETWORK, class: 'provider_auth' }))
      .then(paused(16_000, null, { count: 2, since: at(0), class: 'provider_auth', reason: 'refused_key' })));
  test('is handed to a human after as many pauses as end by themselves', () =>
    given(provider, paused(0, 1, { count: MOST_PAUSES }), probed(C, 1))
      .when(endProbe(C, 2, NETWORK))
      .then(paused(2, null, { count: MOST_PAUSES + 1, since: at(0), reason: 'probe_failed' })));
  test('is open to all when the probe meets no fault', () =>
    given(provider, ...probing)
      .when(endProbe(C, 20_000, null))
      .then(resumed(C, 20_000)));
  test('is probed by one run only', () =>
    given(provider, ...probing)
      .when(startProbe(A, 20_000))
      .thenNothing());
  test('hears only of the end of its own probe', () =>
    given(provider, ...probing)
      .when(endProbe(runOf('c', 2), 20_000, null))
      .thenNothing());
  test('is being tried already', () =>
    given(provider, ...probing)
      .when(retry(16_000))
      .thenNothing());
});

test('ignores events of a later release', () => {
  expect(provider.evolve(provider.initial, { type: 'provider_unheard_of', data: {} } as never)).toEqual(
    provider.initial,
  );
});
