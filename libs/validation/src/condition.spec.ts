import { describe, expect, test } from '@jest/globals';
import { askCondition, conditionAsker } from './condition.ts';

const ask = (condition: string) =>
  askCondition(condition, {
    inputs: { name: 'web', n: 3 },
    nodes: { scan: { outcome: 'satisfied', output: { list: [1, 2], big: 'a'.repeat(40) } } },
  });

describe('a condition', () => {
  test.each([
    ['inputs.n == 3', true],
    ['inputs.n > 3', false],
    ["nodes.scan.outcome == 'satisfied' && nodes.scan.output.list.exists(n, n == 2)", true],
    ["nodes['scan'].output.list.size() == 2", true],
    ["has(inputs.nothing) && inputs.nothing == 'x'", false],
  ])('%s: %p', (condition, holds) => {
    expect(ask(condition)).toEqual({ holds });
  });

  test.each(['inputs.nothing == 1', 'nodes.other.output == 1', 'inputs.name > 3', 'inputs.name'])(
    '%s has no answer, and says where it fails without any value',
    (condition) => {
      const answer = ask(condition);
      expect(answer).toEqual({ detail: expect.stringContaining(condition) });
      expect(JSON.stringify(answer)).not.toContain('web');
    },
  );

  test('that does not end is stopped', () => {
    expect(ask("nodes.scan.output.big.matches('^(a+)+b$')")).toEqual({
      detail: expect.stringContaining('not finished'),
    });
  });

  test('is not asked any more when those before it took too long together, however short each of them was', () => {
    const ask = conditionAsker({ limitMs: 20, togetherMs: 50 });
    const values = { inputs: { text: 'a'.repeat(60) }, nodes: {} };
    const slow = Array.from({ length: 4 }, () => ask("inputs.text.matches('^(a+)+b$')", values));
    expect(slow.map((answer) => 'detail' in answer)).toEqual([true, true, true, true]);
    expect(ask('true', values)).toEqual({ detail: expect.stringContaining('took 50 ms together') });
    expect(conditionAsker()('true', values)).toEqual({ holds: true });
  });
});
