import { readEvent } from '@fixpoint/contracts/events/parse-event';
import { judgementSignature } from '@fixpoint/contracts/signature';
import { builtInMode } from '@fixpoint/documents/built-in-protocol';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { validatorOf, validatorWorld } from './validator.fixture.ts';

// Real processes and real git on a busy machine.
jest.setTimeout(30_000);

type Changes = NonNullable<Parameters<typeof validatorWorld>[0]>;
type World = Awaited<ReturnType<typeof validatorWorld>>;

const worlds: World[] = [];
const worldWith = async (mode: Changes['mode'] = {}) => {
  const world = await validatorWorld({ mode });
  worlds.push(world);
  return world;
};
afterEach(() => {
  for (const world of worlds.splice(0)) world.close();
});

const token = ['ghp', 'a1B2'.repeat(9)].join('_');
const lint = (command: string, more: Parameters<typeof validatorOf>[2] = {}) => validatorOf('lint', { command }, more);

/** Asks for a judgement and returns the data of the one answer. */
const judge = async (world: World, ...how: Parameters<World['ended']>) => {
  expect(await world.askJudge(await world.ended(...how))).toEqual({ verdict: 'done' });
  expect(world.copies()).toEqual([]);
  const [, answer, ...more] = await world.answers(how[1]?.more?.run ?? 1);
  expect(more).toEqual([]);
  if (answer?.type !== 'post_validated') throw new Error(JSON.stringify(answer));
  return readEvent(answer, 'post_validated');
};

describe('a judgement under the built-in protocol', () => {
  test('begins with the postcondition and is published with its node_ready', async () => {
    const world = await worldWith();
    const offer = await world.ended();
    expect(await world.askJudge(offer)).toEqual({ verdict: 'done' });
    const [, judged] = await world.answers();
    expect(judged).toMatchObject({
      type: 'post_validated',
      version: 2,
      metadata: { causation_id: offer.event.id, producer: 'validator__judge' },
      data: {
        node_id: 'n',
        outcome: 'proceed',
        reason: 'passed',
        halt_type: null,
        triggering_validators: [],
        verdicts: [
          { validator: 'postcondition', severity: 'pass' },
          { validator: 'secrets', severity: 'pass' },
        ],
      },
    });
    expect(world.published).toEqual([
      { offer: { event: judged, nodeReady: offer.nodeReady }, workClass: 'normal', reoffer: '' },
    ]);
  });

  test('finds the node_ready when the message does not carry it', async () => {
    const world = await worldWith();
    const { event } = await world.ended();
    expect(await world.askJudge({ event, nodeReady: null })).toEqual({ verdict: 'done' });
    expect((await world.answers()).map(({ type }) => type)).toEqual(['governance_passed', 'post_validated']);
  });

  test.each(['unmet', 'indeterminate', 'faulted', 'cancelled'] as const)(
    'is not asked about a run that ended %s',
    async (outcome) => {
      const world = await worldWith();
      expect(await world.askJudge(await world.ended({ outcome }))).toEqual({ verdict: 'done' });
      expect(await world.answers()).toHaveLength(1);
      expect(world.published).toEqual([]);
    },
  );

  test('of a degraded run is a warning that its policy lifts', async () => {
    const judged = await judge(await worldWith(), {
      outcome: 'degraded',
      postcondition_met: false,
      detail: 'exit code 1',
    });
    expect(judged).toMatchObject({
      outcome: 'proceed_with_log',
      reason: 'degraded',
      verdicts: [
        { validator: 'postcondition', severity: 'warning', original_severity: 'blocker', justification: 'exit code 1' },
        {},
      ],
    });
  });

  test('of a recipe without postcondition and validators says that nobody else looked', async () => {
    const world = await worldWith({ post: [] });
    const judged = await judge(world, { postcondition_met: null }, { node: { postcondition: null } });
    expect(judged).toMatchObject({ outcome: 'proceed_with_log', reason: 'exit_code_only' });
  });

  test('of a gate says nothing like that: its recipe is its check', async () => {
    const world = await worldWith({ post: [] });
    const judged = await judge(world, { postcondition_met: true }, { node: { kind: 'gate', postcondition: null } });
    expect(judged).toMatchObject({ outcome: 'proceed', reason: 'passed' });
  });

  test('of a secret in the tree halts, and never tells it', async () => {
    const world = await worldWith();
    const workspace_ref = await world.worked(`printf 'a\\ntoken = ${token}\\n' > settings.ini`);
    const judged = await judge(world, { workspace_ref });
    expect(judged).toMatchObject({
      outcome: 'halt',
      halt_type: 'blocker',
      raw_halt_type: 'blocked',
      workspace_ref,
      verdicts: [
        {},
        { validator: 'secrets', findings: [{ rule: 'github/GITHUB_TOKEN', path: 'settings.ini', line: 2 }] },
      ],
    });
    expect(JSON.stringify(judged)).not.toContain(token.slice(6));
  });

  test('of a secret behind a zero byte halts, too', async () => {
    const world = await worldWith();
    const workspace_ref = await world.worked(`printf 'a\\0\\n${token}\\n' > data.bin`);
    expect(await judge(world, { workspace_ref })).toMatchObject({
      outcome: 'halt',
      verdicts: [{}, { findings: [{ path: 'data.bin', line: 2 }] }],
    });
  });

  test.each([
    ['committed and removed again', `echo ${token} > a; git add a; git commit -qm 1; git rm -q a; git commit -qm 2`],
    ['committed as binary and removed', `printf 'x\\0\\n${token}\\n' > a; git add a; git commit -qm 1; git rm -qf a`],
    ['staged and not kept', `echo ${token} > a; git add a; rm a`],
  ])('of a secret that was %s halts: the history goes out as well', async (_, script) => {
    const world = await worldWith();
    const workspace_ref = await world.worked(script);
    expect(await judge(world, { workspace_ref })).toMatchObject({
      outcome: 'halt',
      verdicts: [
        {},
        { validator: 'secrets', findings: [{ path: 'a', message: expect.stringMatching(/on the way$/) }] },
      ],
    });
  });

  test('of a clean tree makes no copy', async () => {
    const world = await worldWith();
    const workspace_ref = await world.worked('echo fine > a');
    const deps = world.deps();
    const made: string[] = [];
    const workspaces = Object.assign(Object.create(deps.workspaces), {
      materialise: (_: unknown, folder: string) => Promise.reject(new Error(`made ${made.push(folder)}`)),
    });
    expect(await world.askJudge(await world.ended({ workspace_ref }), { ...deps, workspaces })).toEqual({
      verdict: 'done',
    });
    expect(made).toEqual([]);
    expect((await world.answers())[1]).toMatchObject({ type: 'post_validated', data: { outcome: 'proceed' } });
  });

  test('looks at what earlier runs left: a check that changes nothing passes no secret', async () => {
    const world = await worldWith({ post: [{ ...validatorOf('secrets', { secret_scan: {} }), overridable: true }] });
    const first = await world.worked(`echo ${token} > a`);
    expect(await judge(world, { workspace_ref: first })).toMatchObject({
      outcome: 'recover',
      triggering_validators: ['secrets'],
    });
    const fixed = await world.worked('echo unrelated > b', first);
    const more = { run: 2, run_kind: 'check', workspace_ref: fixed } as const;
    expect(await judge(world, { workspace_ref: fixed }, { more })).toMatchObject({ outcome: 'recover' });
  });
});

describe('a judgement by commands', () => {
  test('passes, objects with findings, and both have a signature', async () => {
    const world = await worldWith({
      post: [lint('test ! -e bad || { echo \'{"findings": [{"rule": "r", "path": "bad", "line": 1}]}\'; exit 1; }')],
    });
    const good = await world.worked('echo x > good');
    const bad = await world.worked('echo x > bad', good);
    expect(await judge(world, { workspace_ref: good })).toMatchObject({
      outcome: 'proceed',
      signature: judgementSignature([], good.tree),
    });
    const judged = await judge(world, { workspace_ref: bad }, { more: { run: 2 } });
    expect(judged).toMatchObject({
      outcome: 'recover',
      reason: 'overridable_blocker',
      triggering_validators: ['lint'],
      verdicts: [
        {},
        {
          validator: 'lint',
          severity: 'blocker',
          findings: [{ rule: 'r', path: 'bad', line: 1 }],
          output: expect.any(String),
        },
      ],
    });
    expect(judged.signature).toBe(judgementSignature(judged.verdicts, bad.tree));
  });

  test('cannot change what is judged', async () => {
    const world = await worldWith({ post: [lint('echo sealed > bad; test -e bad')] });
    const workspace_ref = await world.worked('echo x > good');
    const judged = await judge(world, { workspace_ref });
    expect(judged.workspace_ref).toEqual(workspace_ref);
  });

  test('S-T70: that could not run is no verdict', async () => {
    const world = await worldWith({ post: [lint('no-such-linter')] });
    await world.askJudge(await world.ended({ workspace_ref: await world.worked('echo x > a') }));
    expect((await world.answers())[1]).toMatchObject({
      type: 'gate_faulted',
      data: { phase: 'judge', class: 'internal', detail: expect.stringContaining('lint: exit code 127') },
    });
  });

  test('whose workspace is lost is no verdict', async () => {
    const world = await worldWith({ post: [lint('true')] });
    const ref = await world.worked('echo x > a');
    await world.askJudge(await world.ended({ workspace_ref: { ...ref, bundle: 'f'.repeat(64) } }));
    expect((await world.answers())[1]).toMatchObject({
      type: 'gate_faulted',
      data: { phase: 'judge', class: 'workspace' },
    });
  });

  test('S-T14: that is not overridable halts', async () => {
    const world = await worldWith({ post: [lint('false', { overridable: false })] });
    expect(await judge(world)).toMatchObject({ outcome: 'halt', halt_type: 'blocker' });
  });

  test('X04: that warns asks a human, or recovers by opt-in', async () => {
    const post = [lint('false', { severity: 'warning' })];
    expect(await judge(await worldWith({ post }))).toMatchObject({ outcome: 'escalate', halt_type: 'escalate' });
    expect(await judge(await worldWith({ post, recover_on: ['warning'] }))).toMatchObject({
      outcome: 'recover',
      triggering_validators: ['lint'],
    });
  });
});

describe('a judgement of the output', () => {
  test('sees output, exit code and what was printed', async () => {
    const world = await worldWith({
      post: [
        validatorOf('shape', { json_schema: { required: ['n'] } }),
        validatorOf('value', { cel: 'output.n == 3 && exit_code == 0 && stdout == "" ' }),
      ],
    });
    expect(await judge(world, { output: { n: 3 } })).toMatchObject({ outcome: 'proceed' });
    expect(await judge(world, { output: { n: 4 } }, { more: { run: 2 } })).toMatchObject({
      triggering_validators: ['value'],
    });
  });

  test('sees a big output, which is an artifact', async () => {
    const world = await worldWith({ post: [validatorOf('value', { cel: 'output.n == 3' })] });
    const { hash } = await world.artifacts.put(Buffer.from('{"n": 3}'));
    expect(await judge(world, { output: null, output_artifact: hash })).toMatchObject({ outcome: 'proceed' });
  });

  test('sees the output of the run that is judged again', async () => {
    const world = await worldWith({ post: [validatorOf('value', { cel: 'output.n == 3' })] });
    await judge(world, { output: { n: 3 } });
    const more = { run: 2, run_kind: 'check', judges: 1 } as const;
    expect(await judge(world, { output: null, exit_code: null }, { more })).toMatchObject({ outcome: 'proceed' });
  });

  test('sees a file as the check found it, which a fix may have written', async () => {
    const world = await worldWith({ post: [validatorOf('value', { cel: 'output.n == 3' })] });
    const node = { output_file: 'x.json' };
    await judge(world, { output: { n: 2 } }, { node });
    const more = { run: 2, run_kind: 'check', judges: 1 } as const;
    expect(await judge(world, { output: { n: 3 }, exit_code: null }, { node, more })).toMatchObject({
      outcome: 'proceed',
    });
  });

  test('S-T12: that gives no answer halts', async () => {
    const world = await worldWith({ post: [validatorOf('value', { cel: 'output.n == 3' })] });
    expect(await judge(world, { output: 'text' })).toMatchObject({ outcome: 'halt', halt_type: 'validator_error' });
  });
});

describe('who judges', () => {
  const post = [
    validatorOf('each', { cel: 'true' }),
    validatorOf('last', { cel: 'true' }, { on: 'task' }),
    validatorOf('other', { cel: 'true' }, { on: 'task' }),
  ];
  test.each([
    ['a node before the last one', { last_node: false }, ['each']],
    ['the last node', { last_node: true }, ['each', 'last', 'other']],
    ['a fix, with its last node', { task_kind: 'fix', judged_by: ['other'], last_node: true }, ['each', 'other']],
    ['a fix, before its last node', { task_kind: 'fix', judged_by: ['other'], last_node: false }, []],
  ] as const)('%s', async (_, more, expected) => {
    const judged = await judge(
      await worldWith({ post }),
      {},
      { more: { ...more, judged_by: 'judged_by' in more ? [...more.judged_by] : null } },
    );
    expect(judged.verdicts.map(({ validator }) => validator)).toEqual(['postcondition', ...expected]);
  });

  test('in a fix warnings that nothing recovers from wait for the parent', async () => {
    const warns = { post: [validatorOf('style', { cel: 'false' }, { severity: 'warning' })] };
    const more = { task_kind: 'fix', judged_by: [] } as const;
    expect(await judge(await worldWith(warns), {}, { more: { ...more, judged_by: [] } })).toMatchObject({
      outcome: 'proceed_with_log',
    });
    expect(
      await judge(await worldWith({ ...warns, recover_on: ['warning'] }), {}, { more: { ...more, judged_by: [] } }),
    ).toMatchObject({
      outcome: 'recover',
    });
  });
});

describe('the firewall', () => {
  test('what the executor saw is a blocker that nobody overrides', async () => {
    expect(await judge(await worldWith(), { firewall_broken: 'the postcondition changed' })).toMatchObject({
      outcome: 'halt',
      verdicts: [
        {},
        { validator: 'firewall', severity: 'blocker', overridable: false, justification: 'the postcondition changed' },
        {},
      ],
    });
  });

  test('a protected path that was changed is one, too', async () => {
    const world = await worldWith({ protected: ['tests'] });
    const workspace_ref = await world.worked('mkdir tests; echo "exit 0" > tests/check.sh; echo x > a');
    expect(await judge(world, { workspace_ref })).toMatchObject({
      outcome: 'halt',
      verdicts: [{}, { validator: 'firewall', findings: [{ rule: 'protected', path: 'tests/check.sh' }] }, {}],
    });
  });

  test('other paths are none of its business', async () => {
    const world = await worldWith({ protected: ['tests'] });
    expect(await judge(world, { workspace_ref: await world.worked('echo x > a') })).toMatchObject({
      outcome: 'proceed',
    });
  });
});

describe('a judgement that was given', () => {
  test('is given again, alone, and nobody is asked', async () => {
    const world = await worldWith({ post: [lint('true')] });
    const offer = await world.ended();
    await world.askJudge(offer);
    const before = await world.answers();
    await world.askJudge(offer, {
      ...world.deps('validator-b'),
      runner: { run: () => Promise.reject(new Error('asked')) },
    });
    expect(await world.answers()).toEqual(before);
    expect(world.publishedTypes()).toEqual([
      ['post_validated', 'first'],
      ['post_validated', 'again'],
    ]);
  });

  test('in the same moment by two replicas is given once', async () => {
    const world = await worldWith();
    const offer = await world.ended();
    await Promise.all([world.askJudge(offer), world.askJudge(offer, world.deps('validator-b'))]);
    expect(await world.answers()).toHaveLength(2);
  });

  test('of a run that no gate knows fails', async () => {
    const world = await worldWith();
    const { event, nodeReady } = await world.ended();
    const stray = { ...event, data: { ...(event.data as object), run: 7 } };
    expect(await world.askJudge({ event: stray, nodeReady })).toMatchObject({ verdict: 'failed' });
  });

  test('of many objections fits into an event', async () => {
    const post = Array.from({ length: 12 }, (_, at) =>
      validatorOf(`v${at}`, { command: 'head -c 9000 /dev/zero; exit 1' }),
    );
    const judged = await judge(await worldWith({ ...builtInMode, post }));
    expect(judged.triggering_validators).toHaveLength(12);
    expect(Buffer.byteLength(JSON.stringify(judged))).toBeLessThan(60_000);
  });
});
