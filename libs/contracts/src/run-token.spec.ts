import { describe, expect, test } from '@jest/globals';
import { startHash } from './run-token.ts';

const tree = 'a'.repeat(40);
const source = { url: 'https://example.org/shop.git', ref: 'main' };
const start = {
  ...{ workspace_ref: null, source, keep: ['node_modules/.cache'], judges: null },
  allowance: { time_ms: 60_000, money_micros: 0, tokens: 0 },
  ...{ merge: null, deliver: null, verdicts_of: null, decisions: [] },
};
const workspaceRef = { source, base: tree, head: tree, commit: tree, tree, bundle: null };

describe('the start that a token is minted for', () => {
  test('is the same for equal runs', () => {
    const { allowance, ...rest } = start;
    expect(startHash({ allowance: { ...allowance }, ...rest })).toBe(startHash(start));
  });

  test.each([
    ['repository', { source: { ...source, url: 'https://example.org/other.git' } }],
    ['branch', { source: { ...source, ref: 'release' } }],
    ['kept path', { keep: ['.'] }],
    ['allowance of time', { allowance: { ...start.allowance, time_ms: 3_600_000 } }],
    ['allowance of money', { allowance: { ...start.allowance, money_micros: 1 } }],
    ['judged run', { judges: 1 }],
    ['commit', { workspace_ref: workspaceRef }],
    ['merge', { merge: { epic: 'e', theirs: workspaceRef, base: null } }],
    ['run whose verdicts are decided anew', { verdicts_of: 1 }],
    ['decision of a human', { decisions: ['a.b.c'] }],
    ['place of delivery', { deliver: { git: { url: source.url, branch: 'fixpoint/shop' } } }],
  ])('is another one for another %s, also in the first run of a lineage', (_name, change) => {
    expect(startHash({ ...start, ...change })).not.toBe(startHash(start));
  });
});
