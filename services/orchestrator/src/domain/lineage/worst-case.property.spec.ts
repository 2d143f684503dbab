import { contentHash } from '@fixpoint/contracts/content-hash';
import type { ModeSpec, ValidatorSpec } from '@fixpoint/contracts/documents/protocol';
import { checksOutput, type NodeSpec, type TaskSpec } from '@fixpoint/contracts/documents/task';
import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import { type WorstCase, worstCase } from '@fixpoint/documents/worst-case';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mode, nodeSpec, Play, ROOT, ref, taskSpec, validator, verdict } from './lineage.fixture.ts';

type Ready = EventNamed<'node_ready'>['data'];
type Cost = Pick<WorstCase, 'recipe_runs' | 'checks' | 'repairs' | 'fix_tasks' | 'fix_runs'>;

/** What a run costs when it climbs every rung it has. */
const costOf = (ready: Ready): Cost => {
  const { node, run_kind, task_kind } = ready;
  const isNormal = run_kind === 'normal';
  const isFix = task_kind === 'fix';
  const repairs = isNormal ? repairsOf(node) : 0;
  const asked = isNormal ? (checksOutput(node) ? 1 : 2) + repairs : 1;
  return {
    recipe_runs: !isFix && (isNormal || node.kind === 'gate') ? 1 : 0,
    checks: (node.postcondition?.all.length ?? 0) * asked,
    repairs,
    fix_tasks: 0,
    fix_runs: isFix && isNormal ? 1 : 0,
  };
};

const repairsOf = ({ policy, recipe, max_repair_attempts }: NodeSpec): number =>
  policy === 'recover' && !('primitive' in recipe) ? max_repair_attempts : 0;

const NOTHING: Cost = { recipe_runs: 0, checks: 0, repairs: 0, fix_tasks: 0, fix_runs: 0 };
const NUMBERS = ['recipe_runs', 'checks', 'repairs', 'fix_tasks', 'fix_runs'] as const;

const spent = (play: Play): Cost => {
  const runs = play.facts.flatMap((fact) => (fact.type === 'node_ready' ? [costOf(fact.data)] : []));
  const total = [...runs, { ...NOTHING, fix_tasks: play.count('subtask_spawned') }];
  return total.reduce((sum, each) => {
    const added = NUMBERS.map((number) => [number, sum[number] + each[number]] as const);
    return { ...NOTHING, ...Object.fromEntries(added) };
  }, NOTHING);
};

const hasCheck = ({ node }: Ready): boolean => node.kind === 'gate' || node.postcondition !== null;

/** What an executor or a judge says of the run in flight, as far as it can, each time about a tree of its own. */
type Answer = 'satisfied' | 'unmet' | 'indeterminate' | 'objected' | 'all objected';

const answer = (play: Play, said: Answer): void => {
  const { ready } = play;
  const tree = `tree ${play.facts.length}`;
  const where = { workspace_ref: ref(tree) };
  if (said === 'indeterminate' && hasCheck(ready)) play.end({ outcome: 'indeterminate', ...where });
  else if (said === 'unmet' && canBeUnmet(ready)) unmet(play, tree);
  else {
    const objections = objectorsOf(play, said).map(({ id }) => verdict(id, { evidence_hash: contentHash(tree) }));
    play.judge(objections, where);
  }
};

/** A recipe without a check that ended with 0 once is only judged again. */
const canBeUnmet = (ready: Ready): boolean => hasCheck(ready) || ready.run_kind === 'normal';

const unmet = (play: Play, tree: string): void => {
  const { node, run_kind } = play.ready;
  if (node.policy === 'best_effort' && run_kind === 'normal')
    play.judge([], { workspace_ref: ref(tree) }, { outcome: 'degraded' });
  else play.unmet(tree);
};

const objectorsOf = (play: Play, said: Answer): readonly ValidatorSpec[] => {
  const { judged_by, last_node } = play.ready;
  if (!said.endsWith('objected') || !last_node) return [];
  const judges = play.mode.post.filter(({ id }) => judged_by === null || judged_by.includes(id));
  return said === 'objected' ? judges.slice(0, 1) : judges;
};

const isRunning = (play: Play): boolean => Object.values(play.state.tasks).some((task) => task.current !== null);
const isWaiting = (play: Play): boolean => Object.values(play.state.tasks).some((task) => task.retry !== null);

const goOn = (play: Play, said: Answer): void => {
  if (isRunning(play)) answer(play, said);
  else if (isWaiting(play)) play.retry();
  else if (play.unit.request.open) play.noSplit();
};

const byOutput = { all: [{ cel: 'output.ok', timeout_ms: 1_000 }] };
const twice = { all: [...(nodeSpec().postcondition?.all ?? []), { command: 'test -f that', timeout_ms: 1_000 }] };
const node = fc.constantFrom<Partial<NodeSpec>>(
  {},
  { policy: 'recover', max_repair_attempts: 2 },
  { policy: 'recover', max_repair_attempts: 1, recipe: { primitive: 'commit', with: {} } },
  { policy: 'best_effort' },
  { postcondition: null },
  { postcondition: twice },
  { kind: 'compute', postcondition: byOutput, policy: 'recover', max_repair_attempts: 1 },
  { kind: 'gate', postcondition: null },
);
const task = fc
  .array(node, { minLength: 1, maxLength: 3 })
  .map((nodes) => taskSpec(nodes.map((more, index) => nodeSpec({ ...more, id: `n${index}` }))));
const bounds = fc.record({
  max_recovery_depth: fc.nat(3),
  max_total_fix_attempts: fc.nat(5),
  iterations: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.constant(50)),
  execute: fc.integer({ min: 1, max: 3 }),
  indeterminate: fc.integer({ min: 1, max: 3 }),
});
const byCel: Partial<ValidatorSpec> = { check: { cel: 'output.ok' } };
const posts = fc.constantFrom<ValidatorSpec[]>(
  [],
  [validator('lint')],
  [validator('lint', byCel)],
  [validator('lint'), validator('shape', byCel)],
  [validator('lint'), validator('format')],
);
const answers = fc.array(
  fc.constantFrom<Answer>('satisfied', 'unmet', 'unmet', 'indeterminate', 'objected', 'all objected', 'all objected'),
  { minLength: 1, maxLength: 120 },
);

/** How to spend fixes: each on the task itself, or all but one on the first fix. */
type Spending = 'beside' | 'nested';

/** As dear as one can make it: no check can run at first, nothing is met as often as may be, every fix is in vain. */
const dearest = (spec: TaskSpec, modeSpec: ModeSpec, spending: Spending): Play => {
  const play = new Play(modeSpec).submit(spec);
  for (let step = 0; step < 2_000 && (isRunning(play) || isWaiting(play)); step += 1) {
    if (isRunning(play)) answer(play, dearestAnswer(play, spending));
    else play.retry();
  }
  return play;
};

const dearestAnswer = (play: Play, spending: Spending): Answer => {
  const { ready, mode: modeSpec } = play;
  const { counters } = play.task(ready.task).node;
  if (ready.run_kind === 'check') return 'unmet';
  if (hasCheck(ready) && counters.indeterminate < modeSpec.bounds.indeterminate) return 'indeterminate';
  return ready.task === ROOT ? dearestOfRoot(play, counters.execute) : dearestOfFix(play, spending);
};

const hasFixLeft = ({ mode: { bounds, post }, unit }: Play): boolean =>
  post.length > 0 && unit.fixAttempts < bounds.max_total_fix_attempts;

const dearestOfRoot = (play: Play, executed: number): Answer => {
  if (play.ready.node.policy === 'best_effort') return 'objected';
  const isLastTry = executed === play.mode.bounds.execute - 1;
  return isLastTry && hasFixLeft(play) ? 'objected' : 'unmet';
};

const dearestOfFix = (play: Play, spending: Spending): Answer =>
  spending === 'nested' && play.ready.address === '0~1' && hasFixLeft(play) ? 'objected' : 'satisfied';

describe('what a task can cost at most', () => {
  test('X17: is never exceeded, whatever executors and judges answer', () => {
    fc.assert(
      fc.property(task, bounds, posts, answers, (spec, limits, post, said) => {
        const play = new Play(mode(limits, post)).submit(spec);
        for (const each of said) goOn(play, each);
        const most = worstCase(spec, play.mode);
        const cost = spent(play);
        expect(NUMBERS.filter((number) => cost[number] > most[number])).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  const roomy = bounds.map((limits) => ({ ...limits, iterations: 50 }));
  const fixers = fc.constantFrom<ValidatorSpec[]>([validator('lint')], [validator('lint', byCel)]);
  const checked = fc.constantFrom<Partial<NodeSpec>>(
    ...[{}, { policy: 'recover', max_repair_attempts: 2 } as const, { postcondition: twice }],
    ...[{ kind: 'compute', postcondition: byOutput } as const, { kind: 'gate', postcondition: null } as const],
  );

  test('X17: is what the dearest history of a node costs', () => {
    const flat = roomy.map((limits) => ({ ...limits, max_recovery_depth: 1 }));
    fc.assert(
      fc.property(checked, flat, fc.oneof(fixers, fc.constant<ValidatorSpec[]>([])), (more, limits, post) => {
        const play = dearest(taskSpec([nodeSpec(more)]), mode(limits, post), 'beside');
        expect(worstCase(taskSpec([nodeSpec(more)]), play.mode)).toMatchObject(spent(play));
      }),
    );
  });

  test('X17: is what the dearest history of fixes costs', () => {
    const cheap = fc.constantFrom<Partial<NodeSpec>>({}, { kind: 'compute', postcondition: byOutput });
    const deep = roomy.map((limits) => ({ ...limits, max_recovery_depth: 2 }));
    fc.assert(
      fc.property(cheap, deep, (more, limits) => {
        const spec = taskSpec([nodeSpec(more)]);
        const play = dearest(spec, mode(limits, [validator('lint')]), 'nested');
        const { checks, fix_tasks, fix_runs } = spent(play);
        expect(worstCase(spec, play.mode)).toMatchObject({ checks, fix_tasks, fix_runs });
      }),
    );
  });

  test('X17: is what the dearest history within few iterations costs', () => {
    const few = fc.record({ limits: bounds, iterations: fc.integer({ min: 1, max: 9 }) });
    const ordinary = fc.constantFrom<Partial<NodeSpec>>({}, { policy: 'best_effort' });
    fc.assert(
      fc.property(few, ordinary, ({ limits, iterations }, more) => {
        const spec = taskSpec([nodeSpec(more)]);
        const play = dearest(
          spec,
          mode({ ...limits, iterations, max_recovery_depth: 1 }, [validator('lint', byCel)]),
          'beside',
        );
        expect(worstCase(spec, play.mode).recipe_runs).toBe(spent(play).recipe_runs);
      }),
    );
  });
});
