import { describe, expect, test } from '@jest/globals';
import { type Need, providerOfFault, providersOf } from './needs.ts';

const need = (more: Partial<Need> = {}, ...urls: string[]): Need => ({
  node: { model: 'default', max_repair_attempts: 1, max_agent_attempts: 0 },
  kind: 'normal',
  urls,
  ...more,
});

describe('what a run needs', () => {
  test('is the model that may repair it, and none where nothing is repaired', () => {
    expect(providersOf(need())).toEqual(['model.default']);
    expect(providersOf(need({ kind: 'check' }))).toEqual([]);
  });

  test.each([
    ['https://user@GitHub.com:8443/a/b.git', 'git.github.com'],
    ['ssh://git@git.example.org/a', 'git.git.example.org'],
    ['git@github.com:a/b.git', 'git.github.com'],
  ])('is the host of %s', (url, provider) => {
    expect(providersOf(need({ kind: 'check' }, url))).toEqual([provider]);
  });

  test.each(['/srv/a.git', './a', 'file:///srv/a.git'])('is no host for %s', (url) => {
    expect(providersOf(need({ kind: 'check' }, url))).toEqual([]);
  });

  test('is each host once, also the one that its result is pushed to', () => {
    const urls = ['https://a.example/x', 'https://a.example/y', 'https://b.example/x'];
    expect(providersOf(need({ kind: 'deliver' }, ...urls))).toEqual(['git.a.example', 'git.b.example']);
  });
});

test('a fault speaks of the provider it came from, or of none', () => {
  const needs = ['git.github.com', 'model.default'];
  expect(providerOfFault('network', needs)).toBe('git.github.com');
  expect(providerOfFault('network', ['model.default'])).toBe('model.default');
  expect(providerOfFault('rate_limit', needs)).toBe('model.default');
  expect(providerOfFault('provider_auth', ['git.github.com'])).toBeNull();
  expect(providerOfFault('disk', needs)).toBeNull();
});
