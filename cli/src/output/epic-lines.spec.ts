import { readFileSync } from 'node:fs';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { expect, test } from '@jest/globals';
import { progressLine } from './progress-line.ts';

const sample = (type: string, change: object = {}): RecordedEvent => {
  const file = new URL(`../../../libs/contracts/samples/${type}.v1.json`, import.meta.url);
  const event: RecordedEvent = JSON.parse(readFileSync(file, 'utf8'));
  return { ...event, data: { ...(event.data as object), ...change } };
};

test.each([
  ['epic_child_resolved', { child: 'r.1', left: 2 }, '0: a child is in (r.1), 2 left'],
  ['recompose_started', { attempt: 2 }, '0: all children are in; assembling, attempt 2'],
  [
    'recompose_failed',
    { attempt: 1, limit: 5, reason: 'unmet', next_at: '2026-01-15T09:30:00.000Z' },
    '0: the assembly failed (1 of 5: unmet); again at 2026-01-15T09:30:00.000Z',
  ],
  [
    'recompose_failed',
    { attempt: 5, limit: 5, reason: 'unmet', next_at: null },
    '0: the assembly failed (5 of 5: unmet); waits for a human',
  ],
  ['epic_closed', { children: 3, by: 'recompose' }, '0: closed over 3 children by recompose'],
  [
    'integration_failed',
    { address: '0.1', conflicts: 1, limit: 3, paths: ['a.txt', 'b.txt'] },
    '0.1: could not be merged (1 of 3): a.txt, b.txt',
  ],
  [
    'split_refused',
    { reason: 'children', asked_again: true },
    expect.stringMatching(/not made \(children\); .*once more/),
  ],
])('%s %j is told as one line', (type, change, line) => {
  expect(progressLine(sample(type, { address: '0', ...change }))).toEqual(line);
});

test('a split names its children in their places', () => {
  const { data } = sample('epic_opened') as { data: { children: { address: string; name: string }[] } };
  const names = data.children.map(({ address, name }) => `${address} ${name}`).join(', ');
  expect(progressLine(sample('epic_opened', { address: '0' }))).toBe(`0: split into ${names}`);
});
