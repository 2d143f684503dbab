import type { ProtocolSpec, ValidatorSpec } from '@fixpoint/contracts/documents/protocol';
import { describe, expect, test } from '@jest/globals';
import { builtInMode } from './built-in-protocol.ts';
import { diffProtocols } from './diff-protocols.ts';

const spec = (mode: Partial<typeof builtInMode> = {}, modes: ProtocolSpec['modes'] = {}): ProtocolSpec => ({
  name: 'p',
  project: 'shop',
  modes: { build: { ...builtInMode, ...mode }, ...modes },
});
const lint: ValidatorSpec = {
  ...{ id: 'lint', check: { command: 'lint' }, severity: 'blocker', overridable: true, severity_cap: null },
  ...{ fix: null, timeout_ms: 1000, on: 'task' },
};

describe('the difference of two versions of a protocol', () => {
  test('is empty when they say the same', () => {
    expect(diffProtocols(spec(), spec())).toEqual([]);
  });

  test('names each field with both values', () => {
    const { bounds } = builtInMode;
    expect(diffProtocols(spec(), spec({ bounds: { ...bounds, execute: 5, judge: 1 }, consensus: 'any' }))).toEqual([
      { path: 'modes.build.bounds.execute', from: 3, to: 5 },
      { path: 'modes.build.bounds.judge', from: 2, to: 1 },
      { path: 'modes.build.consensus', from: 'unanimous', to: 'any' },
    ]);
  });

  test('names items by their id, whole where one version alone has them', () => {
    const capped = { ...lint, severity_cap: 'pass' as const };
    expect(diffProtocols(spec({ post: [lint] }), spec({ post: [capped] }))).toEqual([
      { path: 'modes.build.post.lint.severity_cap', from: null, to: 'pass' },
    ]);
    expect(diffProtocols(spec({ post: [] }), spec({ post: [lint] }))).toEqual([
      { path: 'modes.build.post.lint', from: null, to: lint },
    ]);
  });

  test('sees another order of the same validators', () => {
    const other = { ...lint, id: 'other' };
    expect(diffProtocols(spec({ post: [lint, other] }), spec({ post: [other, lint] }))).toEqual([
      { path: 'modes.build.post', from: ['lint', 'other'], to: ['other', 'lint'] },
    ]);
  });

  test('sees a mode that came or went', () => {
    const changes = diffProtocols(spec(), spec({}, { review: builtInMode }));
    expect(changes).toEqual([{ path: 'modes.review', from: null, to: builtInMode }]);
  });

  test('compares lists without ids as a whole', () => {
    expect(diffProtocols(spec({ protected: ['a'] }), spec({ protected: ['a', 'b'] }))).toEqual([
      { path: 'modes.build.protected', from: ['a'], to: ['a', 'b'] },
    ]);
  });
});
