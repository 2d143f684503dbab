import { describe, expect, test } from '@jest/globals';
import { audited } from './audited-event.ts';
import { foldRows } from './fold-rows.ts';
import { at, recorded, telling } from './history.fixture.ts';
import {
  HOST,
  providerFaulted,
  providerPaused,
  providerProbed,
  providerResumed,
  providerRetryAsked,
} from './provider-history.fixture.ts';
import { providerRules } from './providers.ts';

const rowAfter = (...steps: readonly { readonly type: string; readonly data: unknown }[]) => {
  const { told, tell } = telling();
  for (const step of steps) tell(`provider-${HOST}`, `provider-${HOST}`, step);
  return foldRows(providerRules, new Map(), recorded(told).map(audited)).get(HOST);
};

describe('a provider’s row', () => {
  test('begins with the first fault that a run met', () => {
    expect(rowAfter(providerFaulted())).toMatchObject({
      ...{ provider: HOST, status: 'open', class: 'network', detail: 'no route', reason: null, count: 0 },
      ...{ since: null, paused_until: null, probe: null, seen_at: at(0), changed_at: at(0) },
    });
  });

  test('says since when and until when it is paused, and why', () => {
    expect(rowAfter(providerFaulted(), providerPaused(2, at(30)))).toMatchObject({
      ...{ status: 'paused', reason: 'storm', count: 2, since: at(1), paused_until: at(30), changed_at: at(1) },
    });
  });

  test('says that it waits for a human, and who spoke', () => {
    expect(rowAfter(providerPaused(8, null))).toMatchObject({ status: 'human', paused_until: null });
    expect(rowAfter(providerPaused(8, null), providerRetryAsked())).toMatchObject({
      ...{ status: 'paused', paused_until: at(9), asked_by: 'local' },
    });
  });

  test('names the run that probes it, as long as it does', () => {
    const probing = [providerPaused(1, at(30)), providerProbed()] as const;
    expect(rowAfter(...probing)).toMatchObject({ status: 'probing', probe: { root: 'r1', task: 'r1', run: 2 } });
    expect(rowAfter(...probing, providerResumed())).toMatchObject({ status: 'open', probe: null, count: 1 });
    expect(rowAfter(...probing, providerPaused(2, at(60)))).toMatchObject({ status: 'paused', probe: null, count: 2 });
  });

  test('is not made by what comes after', () => {
    expect(rowAfter(providerProbed(), providerResumed(), providerRetryAsked())).toBeUndefined();
  });
});
