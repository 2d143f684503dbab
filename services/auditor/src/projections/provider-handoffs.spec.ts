import { describe, expect, test } from '@jest/globals';
import { audited } from './audited-event.ts';
import { foldRows } from './fold-rows.ts';
import { handoffRules } from './handoffs.ts';
import { at, recorded, telling } from './history.fixture.ts';
import {
  HOST,
  providerPaused,
  providerProbed,
  providerResumed,
  providerRetryAsked,
} from './provider-history.fixture.ts';

const HANDOFF = `provider-${HOST}`;

const rowsAfter = (...steps: readonly { readonly type: string; readonly data: unknown }[]) => {
  const { told, tell } = telling();
  for (const step of steps) tell(HANDOFF, HANDOFF, step);
  return foldRows(handoffRules, new Map(), recorded(told).map(audited));
};

describe('the handoff of a provider', () => {
  test('is not there while it is probed by itself', () => {
    expect(rowsAfter(providerPaused(1, at(30)), providerProbed(), providerResumed()).size).toBe(0);
  });

  test('is opened when only a human ends its pause, and has no end of its own', () => {
    expect(rowsAfter(providerPaused(7, at(30)), providerPaused(8, null)).get(HANDOFF)).toMatchObject({
      ...{ handoff: HANDOFF, lineage: HANDOFF, task: HOST, status: 'open', version: 1, help: 'infrastructure' },
      ...{ raw_halt_type: 'network', detail: 'no route', decisions: ['retry'], expires_at: null, on_expiry: 'keep' },
    });
  });

  test('is decided by whoever has it tried, and opened anew when that was in vain', () => {
    const decided = [providerPaused(8, null), providerRetryAsked()];
    expect(rowsAfter(...decided).get(HANDOFF)).toMatchObject({ status: 'decided', decision: 'retry', version: 1 });
    expect(rowsAfter(...decided, providerPaused(1, at(30))).get(HANDOFF)).toMatchObject({ status: 'decided' });
    expect(rowsAfter(...decided, providerPaused(8, null)).get(HANDOFF)).toMatchObject({
      ...{ status: 'open', version: 2, decision: null, closed_at: null },
    });
  });

  test('is withdrawn by a provider that is back without it', () => {
    expect(rowsAfter(providerPaused(8, null), providerResumed()).get(HANDOFF)).toMatchObject({ status: 'withdrawn' });
  });
});
