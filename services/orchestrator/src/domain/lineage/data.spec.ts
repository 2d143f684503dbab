import { contentHash } from '@fixpoint/contracts/content-hash';
import type { NodeSpec, TaskSpec } from '@fixpoint/contracts/documents/task';
import type { Json } from '@fixpoint/contracts/json';
import { describe, expect, test } from '@jest/globals';
import { mode, nodeSpec, Play, ref, taskSpec, validator, verdict } from './lineage.fixture.ts';

const value = (inner: string): string => `$\{{ ${inner} }}`;

/** A node that takes data. */
const taking = (more: Partial<NodeSpec>): NodeSpec => nodeSpec({ id: 'use', templated: true, ...more });

const withInputs = (inputs: TaskSpec['inputs'], nodes: NodeSpec[]): TaskSpec => ({
  ...taskSpec(nodes),
  inputs: inputs ?? {},
});

const played = (nodes: NodeSpec[], inputs: { [name: string]: Json } = {}): Play =>
  new Play().submit(withInputs(inputs, nodes));

const scan = nodeSpec({ id: 'scan' });

/** The node after `scan`, which put out `output`. */
const afterScan = (
  output: Json,
  node: Partial<NodeSpec>,
  more: { scan?: NodeSpec; outcome?: 'degraded' } = {},
): Play => {
  const play = played([more.scan ?? scan, taking(node)], { name: 'web', n: 3, list: ['a'] });
  play.judge([], {}, { output, ...(more.outcome === undefined ? {} : { outcome: more.outcome }) });
  return play;
};

describe('a run of a node that takes data', () => {
  test('I-T12 I-B06 carries the values in its goal, its variables and the parameters of recipe and check', () => {
    const play = afterScan(
      { high: 2, paths: ['x', 'y'] },
      {
        goal: `${value('inputs.name')} has ${value('nodes.scan.output.high')}`,
        recipe: {
          primitive: 'p',
          with: { paths: value('nodes.scan.output.paths'), deep: [{ n: `n${value('inputs.n')}` }] },
        },
        postcondition: { all: [{ primitive: 'q', with: { n: value('inputs.n') }, timeout_ms: 1 }] },
        env: { ALL: value('nodes.scan.output'), OUTCOME: value('nodes.scan.outcome') },
      },
    );
    expect(play.ready.node).toMatchObject({
      goal: 'web has 2',
      recipe: { primitive: 'p', with: { paths: ['x', 'y'], deep: [{ n: 'n3' }] } },
      postcondition: { all: [{ primitive: 'q', with: { n: 3 }, timeout_ms: 1 }] },
      env: { ALL: '{"high":2,"paths":["x","y"]}', OUTCOME: 'satisfied' },
    });
    expect(play.ready.node).not.toHaveProperty('templated');
  });

  test('never has a value in the text of a command, whatever stands there', () => {
    const command = `echo ${value('inputs.name')}`;
    const check = { all: [{ command, timeout_ms: 1 }] };
    const play = played([taking({ recipe: { command }, postcondition: check, env: { A: value('inputs.name') } })], {
      name: '$(rm -rf .)',
    });
    expect(play.ready.node).toMatchObject({ recipe: { command }, postcondition: check, env: { A: '$(rm -rf .)' } });
  });

  test('does not look into what it filled in', () => {
    const play = played([taking({ goal: value('inputs.a') })], { a: value('inputs.b'), b: 'secret' });
    expect(play.ready.node.goal).toBe(value('inputs.b'));
  });

  test('has another spec hash for other values, and so no token of another run fits', () => {
    const hashes = ['a', 'b', 'a'].map(
      (name) => played([taking({ env: { A: value('inputs.x') } })], { x: name }).ready,
    );
    const [a, b, again] = hashes.map(({ spec_hash }) => spec_hash);
    expect(a).toBe(again);
    expect(a).not.toBe(b);
    const plain = played([nodeSpec()]);
    expect(plain.ready.spec_hash).toBe(plain.root.specHash);
    const afterOne = (output: Json) => afterScan(output, { env: { A: value('nodes.scan.output') } }).ready.spec_hash;
    expect(afterOne(1)).not.toBe(afterOne(2));
  });

  test('has the same values in every run: again, checked, gated anew, and after a fault', () => {
    const play = afterScan({ high: 2 }, { env: { A: value('nodes.scan.output.high') } });
    const first = play.ready;
    play.unmet('one');
    const again = play.ready;
    play.refuse('token_expired');
    const anew = play.ready;
    play.end({ outcome: 'faulted', fault_class: 'network' });
    play.retry();
    for (const run of [again, anew, play.ready]) {
      expect([run.node, run.spec_hash]).toEqual([first.node, first.spec_hash]);
    }
    play.judge([verdict('lint')]);
    play.judge();
    expect(play.ready).toMatchObject({ run_kind: 'check', node: first.node, spec_hash: first.spec_hash });
  });

  test('reads the output of the run that completed the node, also after a fix', () => {
    const play = played([scan, taking({ env: { A: value('nodes.scan.output.n') } })]);
    play.unmet('one');
    play.judge([verdict('lint')], {}, { output: { n: 2 } });
    play.judge([], {}, { output: { n: 'of the fix' } });
    play.judge([], {}, { output: null });
    expect(play.ready.node.env).toEqual({ A: '2' });
  });

  test('takes the default where there is no value, or null', () => {
    const env = {
      A: value('nodes.scan.output.x ?? "none"'),
      B: value('nodes.scan.output.y ?? 0'),
      C: value('inputs.z ?? null'),
    };
    expect(afterScan({ y: null }, { env }).ready.node.env).toEqual({ A: 'none', B: '0', C: '' });
  });
});

describe('a value that is not there', () => {
  const missing = (play: Play): [string, string] => {
    const { halt_type, raw_halt_type, help, slice, detail } = play.last('human_required');
    expect({ halt_type, help, run: slice.run, node: slice.node_id }).toEqual({
      ...{ halt_type: 'data', help: 'cannot_act', run: null, node: 'use' },
    });
    expect(play.count('node_ready')).toBe(1);
    return [raw_halt_type, detail];
  };

  test.each<[string, Json, string]>([
    ['a key', { y: 1 }, 'nodes.scan.output.x has'],
    ['anything', null, 'nodes.scan.output.x has'],
    ['more than null', { x: null }, 'in the output of scan'],
  ])('stops the task before the run, with a human: the output has not %s', (_, output, said) => {
    const [cause, detail] = missing(afterScan(output, { env: { A: value('nodes.scan.output.x') } }));
    expect(cause).toBe('data_missing');
    expect(detail).toContain(said.replace('nodes.scan.output.x has', 'has no value'));
  });

  test('is said with its reason when the output is too large, or was not proven', () => {
    const large = played([scan, taking({ env: { A: value('nodes.scan.output') } })]);
    large.judge([], {}, { output: null, output_artifact: 'a'.repeat(64) });
    expect(missing(large)[1]).toContain('larger than 32 KiB');
    const degraded = afterScan({ x: 1 }, { env: { A: value('nodes.scan.output.x') } }, { outcome: 'degraded' });
    expect(missing(degraded)[1]).toContain('scan is degraded');
  });

  test('is also one that does not fit into an event, or into a variable', () => {
    const text = 'x'.repeat(30_000);
    const twice = { A: value('nodes.scan.output'), B: value('nodes.scan.output') };
    expect(missing(afterScan(text, { env: twice }))[1]).toContain('larger than');
    expect(missing(afterScan('a\0b', { env: { A: value('nodes.scan.output') } }))[1]).toContain('U+0000');
    expect(afterScan('a\0b', { goal: value('nodes.scan.output') }).ready.node.goal).toBe('a\0b');
  });

  test.each<[string, Partial<NodeSpec>]>([
    ['in a text', { goal: value('nodes.scan.output').repeat(600) }],
    ['in a parameter', { recipe: { primitive: 'p', with: { x: value('nodes.scan.output').repeat(600) } } }],
    ['as parameters', { recipe: { primitive: 'p', with: { x: Array(600).fill(value('nodes.scan.output')) } } }],
    [
      'in many variables',
      { env: { A: value('nodes.scan.output').repeat(300), B: value('nodes.scan.output').repeat(300) } },
    ],
  ])('is never made when it can not fit, however often a node names it %s', (_where, node) => {
    // All of it together would be longer than any string may be.
    expect(missing(afterScan('x'.repeat(2 ** 20), node))[1]).toContain('larger than');
  });

  test('lets the lineage wait for its human, and nothing starts', () => {
    const play = afterScan(null, { env: { A: value('nodes.scan.output') } });
    expect(play.root.status).toBe('open');
    expect(play.deadline()).toEqual(['deadline_passed', 'handoff_updated']);
  });
});

describe('a condition', () => {
  const asked = (condition: string, inputs: { [name: string]: Json } = { go: true }): Play =>
    played([nodeSpec({ id: 'first' }), nodeSpec({ id: 'maybe', if: condition }), nodeSpec({ id: 'last' })], inputs);

  test('that holds changes nothing', () => {
    const play = asked('inputs.go');
    expect(play.judge()).toEqual(['node_completed', 'node_ready']);
    expect(play.ready.node.id).toBe('maybe');
  });

  test('that does not hold skips the node and is on record; the next one starts in the same append', () => {
    const play = asked('!inputs.go');
    expect(play.judge()).toEqual(['node_completed', 'node_skipped', 'node_ready']);
    expect(play.last('node_skipped')).toMatchObject({
      node_id: 'maybe',
      node_index: 1,
      condition: '!inputs.go',
      runs: 1,
    });
    expect(play.ready).toMatchObject({ node_index: 2, run: 2, last_node: true, workspace_ref: play.root.accepted });
  });

  test('knows what the nodes before it came to', () => {
    const play = played([
      scan,
      nodeSpec({ id: 'a', if: 'nodes.scan.output.n > 3' }),
      nodeSpec({ id: 'b', if: "nodes.a.outcome == 'skipped' && nodes.scan.outcome == 'satisfied'" }),
    ]);
    play.judge([], {}, { output: { n: 3 } });
    expect(play.ready.node.id).toBe('b');
  });

  test('may skip the first node, and the first run of the task is of another', () => {
    const play = played([nodeSpec({ id: 'a', if: 'inputs.go' }), nodeSpec({ id: 'b' })], { go: false });
    expect(play.facts.map(({ type }) => type)).toEqual(['task_submitted', 'node_skipped', 'node_ready']);
    expect(play.ready).toMatchObject({ run: 1, purpose: 'first', node_index: 1 });
  });

  test('may skip the last nodes, and the task is complete', () => {
    const play = played([scan, nodeSpec({ id: 'b', if: 'false' }), nodeSpec({ id: 'c', if: 'false' })]);
    expect(play.judge([], {}, { output: 1 })).toEqual([
      'node_completed',
      'node_skipped',
      'node_skipped',
      'task_completed',
    ]);
    expect(play.last('task_completed')).toMatchObject({ outcome: 'satisfied', output: 1, runs: 1 });
  });

  test.each(['inputs.nothing > 3', 'inputs.go > 3'])(
    'that can not be answered (%s) stops the task with a human: nobody guesses',
    (condition) => {
      const play = asked(condition);
      expect(play.judge()).toEqual(['node_completed', 'human_required']);
      expect(play.last('human_required')).toMatchObject({
        raw_halt_type: 'condition_unanswered',
        slice: { node_id: 'maybe', run: null },
      });
      expect(play.last('human_required').detail).toContain(condition);
    },
  );

  test('can be given a default by whoever refers to a node that may be skipped', () => {
    const play = played([
      nodeSpec({ id: 'a', if: 'false' }),
      taking({ env: { A: value('nodes.a.output.x ?? "skipped"'), B: value('nodes.a.outcome') } }),
    ]);
    expect(play.ready.node.env).toEqual({ A: 'skipped', B: 'skipped' });
  });

  test('after the deadline skips as before, and holds what comes next', () => {
    const play = asked('!inputs.go');
    play.deadline();
    expect(play.judge()).toEqual(['node_completed', 'node_skipped', 'node_queued', 'human_required']);
  });
});

describe('the result of a task', () => {
  test('is the last output, whoever put it out', () => {
    const play = played([scan, nodeSpec({ id: 'b' }), nodeSpec({ id: 'c' })]);
    play.judge([], {}, { output: { a: 1 } });
    play.judge([], {}, { output: 'text' });
    play.judge([], {}, { output: null });
    expect(play.last('task_completed')).toMatchObject({ output: 'text', output_artifact: null });
  });

  test('may stand in an artifact', () => {
    const play = played([scan, nodeSpec({ id: 'b' })]);
    play.judge([], {}, { output: { a: 1 } });
    play.judge([], {}, { output: null, output_artifact: contentHash('x') });
    expect(play.last('task_completed')).toMatchObject({ output: null, output_artifact: contentHash('x') });
  });

  test('is nothing that was not proven: what a degraded node put out stands in its own event', () => {
    const play = played([scan, nodeSpec({ id: 'b', policy: 'best_effort' })]);
    play.judge([], {}, { output: { a: 1 } });
    play.judge([], {}, { output: { a: 2 }, outcome: 'degraded' });
    expect(play.last('node_completed')).toMatchObject({ outcome: 'degraded', output: { a: 2 } });
    expect(play.last('task_completed')).toMatchObject({ outcome: 'degraded', output: { a: 1 } });
  });
});

describe('a task that takes no data', () => {
  test('keeps no outputs and is run as it was written', () => {
    const play = played([scan, nodeSpec({ id: 'b' })]);
    play.judge([], {}, { output: { a: 1 } });
    expect(play.root.results).toEqual({});
    expect(play.ready.node).toBe(play.root.nodes[1]);
  });

  test('gives its fixes no values either: they are the protocol’s', () => {
    const fix = { command: 'x' };
    const play = new Play(mode({}, [validator('lint', { fix })])).submit(
      withInputs({ a: 1 }, [taking({ env: { A: value('inputs.a') } })]),
    );
    play.judge([verdict('lint')], { workspace_ref: ref('x') });
    expect(play.ready).toMatchObject({ task_kind: 'fix', node: { env: {}, recipe: fix } });
  });
});
