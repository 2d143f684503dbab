import { expect, test } from '@jest/globals';
import { builtInMode } from '../built-in-protocol.ts';
import { lintNumbers } from './lint-numbers.ts';

const { bounds } = builtInMode;

test('the built-in mode makes sense', () => {
  expect(lintNumbers(builtInMode)).toEqual([]);
});

test.each([
  ['bounds.execute', { bounds: { ...bounds, execute: 51 } }],
  ['bounds.max_total_decomposition_children', { bounds: { ...bounds, max_total_decomposition_children: 1 } }],
  ['auto_agent_model', { auto_agent_model: 'smith', bounds: { ...bounds, auto_agent_max_attempts: 0 } }],
  ['handoff_warnings', { handoff_warnings: [90, 50] }],
  ['handoff_warnings', { handoff_warnings: [50, 50] }],
  ['council_timeout', { council_timeout_ms: bounds.deadline_ms + 1 }],
])('%s that makes no sense beside the rest is told', (path, mode) => {
  const found = lintNumbers({ ...builtInMode, ...mode });
  expect(found.map((each) => [each.code, each.path.join('.')])).toEqual([['FX210', path]]);
});

test.each([
  ['as many unmet runs as iterations', { bounds: { ...bounds, execute: 50 } }],
  ['no splits at all', { bounds: { ...bounds, max_decomposition_depth: 0, max_total_decomposition_children: 0 } }],
  ['no reminders', { handoff_warnings: [] }],
])('%s: nothing is said', (_, mode) => {
  expect(lintNumbers({ ...builtInMode, ...mode })).toEqual([]);
});
