import { at } from './history.fixture.ts';

export const HOST = 'git.git.example.org';
const probe = { root: 'r1', task: 'r1', run: 2 };

export const providerFaulted = () => ({
  type: 'provider_faulted',
  data: { provider: HOST, class: 'network', seen_by: probe, detail: 'no route', faulted_at: at(0) },
});

export const providerPaused = (count: number, until: string | null) => ({
  type: 'provider_paused',
  data: {
    ...{ provider: HOST, class: 'network', reason: 'storm', count, until, since: at(1), detail: 'no route' },
    paused_at: at(1),
  },
});

export const providerProbed = () => ({ type: 'provider_probed', data: { provider: HOST, probe, probed_at: at(2) } });

export const providerResumed = () => ({
  type: 'provider_resumed',
  data: { provider: HOST, probe, count: 1, since: at(1), resumed_at: at(3) },
});

export const providerRetryAsked = () => ({
  type: 'provider_retry_asked',
  data: { provider: HOST, reason: 'it is back', asked_at: at(9) },
});
