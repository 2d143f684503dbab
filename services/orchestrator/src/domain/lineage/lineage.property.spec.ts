import { contentHash } from '@fixpoint/contracts/content-hash';
import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import { definitionOf, type LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { fold } from '@fixpoint/decider/decider';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { lineage } from './decide.ts';
import { mode, nodeSpec, Play, ROOT, ref, SILENCE, taskSpec, verdict } from './lineage.fixture.ts';
import type { Lineage } from './state.ts';
import { hasEnded, waitOf } from './waiting.fixture.ts';

const moves = {
  satisfied: (play: Play) => play.end(),
  unmet: (play: Play, tree: string) => play.unmet(tree),
  degraded: (play: Play) => play.end({ outcome: 'degraded' }),
  indeterminate: (play: Play) => play.end({ outcome: 'indeterminate' }),
  faulted: (play: Play) => play.end({ outcome: 'faulted', fault_class: 'network' }),
  proceed: (play: Play) => play.judge(),
  told: (play: Play, tree: string) => play.judge([], {}, { output: { n: Number(tree) % 7 } }),
  lint: (play: Play, tree: string) => play.judge([verdict('lint')], { workspace_ref: ref(tree) }),
  both: (play: Play, tree: string) => play.judge([verdict('lint'), verdict('format')], { workspace_ref: ref(tree) }),
  found: (play: Play, tree: string) =>
    play.judge([verdict('lint', { evidence_hash: contentHash([tree]) })], { workspace_ref: ref(tree) }),
  unknown: (play: Play) => play.judge([verdict('ghost')]),
  escalate: (play: Play) => play.escalate(),
  expired: (play: Play) => play.refuse('token_expired'),
  'not begun': (play: Play) =>
    play.send({ type: 'regate_run', task: play.ready.task, run: play.ready.run, detail: '' }),
  'no answer': (play: Play) =>
    play.send({
      ...{ type: 'fault_run', task: play.ready.task, run: play.ready.run, phase: 'action', class: 'no_answer' },
      ...{ retryAfterMs: 0, detail: '', result: null, effects: 'possible' },
    }),
  'dead letter': (play: Play, tree: string) => play.letter({ event_id: tree }),
  'no split': (play: Play) => play.noSplit(),
  'no council': (play: Play) =>
    play.send({ type: 'give_up_request', task: ROOT, request: play.unit.request.number, ...SILENCE }),
  retry: (play: Play) => play.retry(),
  'request due': (play: Play) =>
    play.send({
      type: 'timer_due',
      timer: { kind: 'request', task: ROOT, request: play.unit.request.number, ...SILENCE },
    }),
  deadline: (play: Play) => play.deadline(),
} satisfies Record<string, (play: Play, tree: string) => string[]>;
type Move = keyof typeof moves;

const needsRun = new Set<Move>(
  (Object.keys(moves) as Move[]).filter(
    (move) => !['dead letter', 'no split', 'no council', 'retry', 'request due', 'deadline'].includes(move),
  ),
);
const isRunning = (play: Play): boolean => Object.values(play.state.tasks).some((task) => task.current !== null);

/** Ends and objections in a mix that keeps lineages alive for long. */
const move = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom<Move>('unmet', 'lint', 'both', 'found', 'proceed', 'told', 'retry') },
  { weight: 4, arbitrary: fc.constantFrom<Move>('indeterminate', 'faulted', 'no answer', 'no split', 'no council') },
  { weight: 2, arbitrary: fc.constantFrom<Move>('request due', 'satisfied', 'degraded', 'expired', 'not begun') },
  { weight: 1, arbitrary: fc.constantFrom<Move>('unknown', 'escalate', 'dead letter', 'deadline') },
);
const script = fc.array(fc.tuple(move, fc.nat(30).map(String)), { minLength: 5, maxLength: 80 });
const nodes = fc.constantFrom<NodeSpec[][]>(
  [nodeSpec()],
  [nodeSpec({ id: 'one' }), nodeSpec({ id: 'two', postcondition: null })],
  [nodeSpec({ kind: 'gate', postcondition: null })],
  [
    nodeSpec({ id: 'one', if: 'inputs.go', policy: 'best_effort' }),
    nodeSpec({ id: 'two', if: "nodes.one.outcome != 'satisfied'" }),
    nodeSpec({ id: 'three', templated: true, env: { A: `$\{{ nodes.two.output ?? "none" }}` } }),
  ],
  [nodeSpec({ id: 'one' }), nodeSpec({ id: 'two', templated: true, goal: `$\{{ nodes.one.output }}` })],
  [nodeSpec({ id: 'one' }), nodeSpec({ id: 'two', if: 'nodes.one.output.n > 3' })],
);
const inputs = { go: true };
const bounds = fc.record({
  max_recovery_depth: fc.nat(3),
  max_total_fix_attempts: fc.nat(5),
  iterations: fc.integer({ min: 1, max: 12 }),
  execute: fc.integer({ min: 1, max: 3 }),
  indeterminate: fc.integer({ min: 1, max: 3 }),
  faults: fc.integer({ min: 1, max: 3 }),
});

type Step = (play: Play, name: Move, tree: string) => void;
const played = (specs: NodeSpec[], limits: object, steps: [Move, string][], each: Step): Play => {
  const play = new Play(mode(limits)).submit({ ...taskSpec(specs), inputs });
  for (const [name, tree] of steps) {
    if (needsRun.has(name) && !isRunning(play)) continue;
    each(play, name, tree);
  }
  return play;
};

const property = (check: (...given: [NodeSpec[], object, [Move, string][]]) => void) =>
  fc.assert(fc.property(nodes, bounds, script, check), { numRuns: 150 });

/** How often each node of each task ended unmet, ran with evidence or could not be checked, and what was charged. */
const used = (facts: readonly LineageEvent[]) => {
  const fixes = facts.filter((fact) => fact.type === 'subtask_spawned');
  const counters = facts.flatMap((fact) => (fact.type === 'run_counted' ? [fact.data.counters] : []));
  const most = (pick: (one: (typeof counters)[number]) => number) => Math.max(0, ...counters.map(pick));
  return {
    fixes: fixes.length,
    depth: Math.max(0, ...fixes.map((fact) => fact.data.recovery_depth)),
    iterations: most((one) => one.iterations),
    execute: most((one) => one.execute),
  };
};

describe('a lineage', () => {
  test('INV budgets are never exceeded, whatever is answered in whatever order', () => {
    property((specs, limits, steps) => {
      const play = played(specs, limits, steps, (each, name, tree) => moves[name](each, tree));
      const { max_total_fix_attempts, max_recovery_depth, iterations, execute } = play.mode.bounds;
      const spent = used(play.facts);
      expect(spent.fixes).toBeLessThanOrEqual(max_total_fix_attempts);
      expect(spent.depth).toBeLessThanOrEqual(max_recovery_depth);
      expect(spent.iterations).toBeLessThanOrEqual(iterations);
      expect(spent.execute).toBeLessThanOrEqual(execute);
    });
  });

  test('has ended, or every open task waits for a run, a fix, a time, the council or a human', () => {
    property((specs, limits, steps) => {
      played(specs, limits, steps, (play, name, tree) => {
        moves[name](play, tree);
        if (hasEnded(play.state)) return;
        const waits = Object.values(play.state.tasks).map((task) => waitOf(play.state, task)?.for ?? 'ended');
        expect(waits).not.toContain('nothing');
      });
    });
  });

  test('has at most one run in flight, and no number twice', () => {
    property((specs, limits, steps) => {
      const play = played(specs, limits, steps, (each, name, tree) => {
        moves[name](each, tree);
        expect(Object.values(each.state.tasks).filter((task) => task.current !== null).length).toBeLessThanOrEqual(1);
      });
      const runs = play.facts.flatMap((fact) =>
        fact.type === 'node_ready' ? [`${fact.data.task}#${fact.data.run}`] : [],
      );
      expect(new Set(runs).size).toBe(runs.length);
    });
  });

  test('is the same whether it is folded from its start or from what was kept of it as JSON at any point', () => {
    fc.assert(
      fc.property(nodes, bounds, script, fc.nat(400), (specs, limits, steps, at) => {
        const { facts } = played(specs, limits, steps, (play, name, tree) => moves[name](play, tree));
        const [before, after] = [facts.slice(0, at), facts.slice(at)];
        const kept: Lineage = JSON.parse(JSON.stringify(fold(lineage, lineage.initial, before)));
        expect(fold(lineage, kept, after)).toEqual(fold(lineage, lineage.initial, facts));
      }),
      { numRuns: 150 },
    );
  });

  test('decides nothing when it is told again what it has answered', () => {
    property((specs, limits, steps) => {
      const play = new Play(mode(limits));
      const sent: Parameters<Play['send']>[0][] = [];
      const send = play.send.bind(play);
      play.send = (command) => {
        const facts = send(command);
        if (facts.length > 0) sent.push(command);
        return facts;
      };
      play.submit({ ...taskSpec(specs), inputs });
      for (const [name, tree] of steps) {
        if (needsRun.has(name) && !isRunning(play)) continue;
        moves[name](play, tree);
        expect(sent.slice(-8).map((command) => send(command))).toEqual(sent.slice(-8).map(() => []));
      }
    });
  });

  test('C9 never takes a charge back', () => {
    property((specs, limits, steps) => {
      let before = 0;
      played(specs, limits, steps, (play, name, tree) => {
        moves[name](play, tree);
        expect(play.unit.fixAttempts).toBeGreaterThanOrEqual(before);
        before = play.unit.fixAttempts;
      });
    });
  });

  test('writes nothing but what its contracts allow', () => {
    property((specs, limits, steps) => {
      const { facts } = played(specs, limits, steps, (play, name, tree) => moves[name](play, tree));
      for (const fact of facts) definitionOf(fact.type)?.data.parse(fact.data);
      expect(facts.length).toBeGreaterThan(0);
    });
  });

  test('S-T82 never changes what its task is: no objection gets into a node, a goal or a spec', () => {
    property((specs, limits, steps) => {
      const { facts } = played(specs, limits, steps, (play, name, tree) => moves[name](play, tree));
      const submitted = facts.flatMap((fact) => (fact.type === 'task_submitted' ? [fact.data] : []));
      const own = facts.flatMap((fact) => (fact.type === 'node_ready' && fact.data.task === ROOT ? [fact.data] : []));
      for (const { node, node_index, intent, spec_hash } of own) {
        const written = { node: specs[node_index], spec_hash: submitted[0]?.spec_hash };
        const filled = own.find((first) => first.node_index === node_index);
        const { node: same, spec_hash: hash } = specs[node_index]?.templated === true ? { ...filled } : written;
        expect({ node, intent, spec_hash }).toEqual({ node: same, intent: submitted[0]?.spec.goal, spec_hash: hash });
      }
    });
  });

  test('nothing comes after its end but a withdrawal in the same append', () => {
    property((specs, limits, steps) => {
      const { facts } = played(specs, limits, steps, (play, name, tree) => moves[name](play, tree));
      const end = facts.findIndex(
        (fact) => (fact.type === 'task_completed' || fact.type === 'task_blocked') && fact.data.task === ROOT,
      );
      if (end >= 0)
        expect(
          facts
            .slice(end + 1)
            .map((fact) => fact.type)
            .filter((type) => type !== 'handoff_withdrawn'),
        ).toEqual([]);
    });
  });

  test('can be folded from any history in any order', () => {
    property((specs, limits, steps) => {
      const { facts } = played(specs, limits, steps, (play, name, tree) => moves[name](play, tree));
      const shuffled = [...facts].sort((a, b) => (contentHash(a.data) < contentHash(b.data) ? -1 : 1));
      let state = lineage.initial;
      for (const fact of [...shuffled, { type: 'unheard_of', data: {} } as unknown as LineageEvent]) {
        state = lineage.evolve(state, fact);
      }
      expect(['unknown', 'admitted']).toContain(state.status);
    });
  });
});
