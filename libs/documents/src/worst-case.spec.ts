import { describe, expect, test } from '@jest/globals';
import { builtInMode } from './built-in-protocol.ts';
import { parseProtocol } from './parse-protocol.ts';
import { parseTask } from './parse-task.ts';
import { worstCase } from './worst-case.ts';

const task = (nodes: string) => {
  const { spec } = parseTask(`kind: task/v1\nname: t\n${nodes}`);
  if (spec === null) throw new Error('not parsed');
  return spec;
};

const mode = (text: string) => {
  const { spec } = parseProtocol(`kind: protocol/v1\nname: p\nproject: x\nmodes:\n  build: ${text}\n`, {
    knownPrimitives: { names: [], problems: () => [] },
    deniedBy: () => null,
  });
  if (spec?.modes.build === undefined) throw new Error('not parsed');
  return spec.modes.build;
};

const RECOVER =
  'recipe: { command: make }\npostcondition: { command: test -f out }\npolicy: recover\nrecovery: { max_repair_attempts: 2 }\n';

describe('the most that a task can cost', () => {
  test('X17: without fixes it is the unmet runs and those whose check could not run, times their repairs', () => {
    expect(worstCase(task(RECOVER), builtInMode)).toEqual({
      recipe_runs: 6,
      checks: 28,
      repairs: 12,
      model_calls: 12 + 27 + 9 * 8,
      fix_tasks: 0,
      fix_runs: 0,
      agent_runs: 27,
      children: 8,
      money_micros: 50_000_000,
      time_ms: 86_400_000,
    });
  });

  test('X17: the nodes of a task share its fixes', () => {
    const two = 'nodes:\n  - recipe: { command: make }\n  - recipe: { primitive: commit }\n';
    const fixed = mode(
      '{ post: [{ id: a, overridable: true, check: { command: x }, fix: { command: y } }, { id: b, check: { command: x } }], bounds: { max_total_fix_attempts: 4, execute: 2 } }',
    );
    expect(worstCase(task(two), fixed)).toMatchObject({ recipe_runs: 4, repairs: 0, fix_tasks: 4, fix_runs: 19 });
  });

  test.each([
    ['without room for a split, no council', 'max_total_decomposition_children: 1', { children: 1, model_calls: 18 }],
    ['without a level below it, no child', 'max_decomposition_depth: 0', { children: 0, agent_runs: 3 }],
    ['where no run may spend, no money', 'run_money_micros: 0', { money_micros: 0 }],
    ['as much money as the lineage has', 'max_money_micros: 7', { money_micros: 7 }],
  ])('%s', (_, bound, expected) => {
    expect(worstCase(task(RECOVER), mode(`{ bounds: { ${bound} } }`))).toMatchObject(expected);
  });

  test('the iterations of a node are never exceeded', () => {
    expect(worstCase(task(RECOVER), mode('{ bounds: { execute: 90, iterations: 7 } }'))).toMatchObject({
      recipe_runs: 7,
      repairs: 14,
    });
  });
});
