import type { ModeSpec } from '@fixpoint/contracts/documents/protocol';
import { readEvent } from '@fixpoint/contracts/events/parse-event';
import { rootOf } from '@fixpoint/contracts/merkle';
import { rootPayload, runTokenClaimsSchema, runTokenParts, startHash } from '@fixpoint/contracts/run-token';
import { builtInMode } from '@fixpoint/documents/built-in-protocol';
import { ProtocolUnknown } from '@fixpoint/documents/protocol-catalog';
import { firewallHash } from '@fixpoint/validation/firewall';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { compactVerify, createLocalJWKSet } from 'jose';
import { validatorOf, validatorWorld } from './validator.fixture.ts';

// Real processes and real git on a busy machine.
jest.setTimeout(30_000);

const worlds: { close: () => void }[] = [];
const worldWith = async (changes?: Parameters<typeof validatorWorld>[0]) => {
  const world = await validatorWorld(changes);
  worlds.push(world);
  return world;
};
afterEach(() => {
  for (const world of worlds.splice(0)) world.close();
});

const report = (text: string) =>
  validatorOf('tests', { report: { format: 'tap', command: text } }, { overridable: false });
const command = (text: string, more: Parameters<typeof validatorOf>[2] = {}) =>
  validatorOf('pre_check', { command: text }, more);

describe('the gate under the built-in protocol', () => {
  test('lets a run start, caused by its node_ready, and publishes that with it', async () => {
    const world = await worldWith();
    const offer = await world.ready();
    expect(await world.askGate(offer)).toEqual({ verdict: 'done' });
    const [passed] = await world.answers();
    expect(passed).toMatchObject({
      type: 'governance_passed',
      root: 'r',
      metadata: { causation_id: offer.event.id, actor: 'ann', producer: 'validator__gate' },
      data: { outcome: 'proceed', run_kind: 'normal', work: 'long', workspace_ref: null },
    });
    expect(world.published).toEqual([
      { offer: { event: passed, nodeReady: offer.event }, workClass: 'normal', reoffer: '' },
    ]);
  });

  test('S-T85: the token says which run, by whom and until when', async () => {
    const world = await worldWith();
    const offer = await world.ready();
    await world.askGate(offer);
    const [passed] = await world.answers();
    const { token, firewall_hash } = readEvent(passed as never, 'governance_passed');
    const parts = runTokenParts(token);
    const { payload, protectedHeader } = await compactVerify(parts?.jws ?? '', createLocalJWKSet(world.publicKeys));
    expect(parts === null ? null : rootPayload(rootOf(parts.claims, parts.proof) ?? '')).toBe(
      new TextDecoder().decode(payload),
    );
    const run = readEvent(offer.event, 'node_ready');
    expect(protectedHeader).toEqual({ alg: 'EdDSA', kid: 'k1' });
    expect(firewall_hash).toBe(firewallHash({ node: run.node, mode: builtInMode }));
    const claims = runTokenClaimsSchema.parse(JSON.parse(Buffer.from(parts?.claims ?? '', 'base64url').toString()));
    expect(claims).toMatchObject({
      root: 'r',
      task: 'r',
      run: 1,
      run_kind: 'normal',
      spec_hash: run.spec_hash,
      firewall_hash,
      start_hash: startHash(run),
      project: 'p',
      mode: 'build',
    });
    expect(claims.exp - Date.now() / 1000).toBeGreaterThan(3590);
  });

  test('tells which runs need no process and no folder', async () => {
    const world = await worldWith();
    const counter = { recipe: { primitive: 'counter', with: { to: 3 } } };
    const check = (name: string) => ({ all: [{ primitive: name, with: { value: 3 }, timeout_ms: 1 }] });
    await world.askGate(await world.ready({ ...counter, postcondition: check('counter-at') }, { run: 1 }));
    await world.askGate(await world.ready({ ...counter, postcondition: check('git-clean') }, { run: 2 }));
    await world.askGate(
      await world.ready({ ...counter, postcondition: { all: [{ command: 'true', timeout_ms: 1 }] } }, { run: 3 }),
    );
    const file = { ...counter, output_file: 'x.json' };
    await world.askGate(await world.ready({ ...file, postcondition: check('counter-at') }, { run: 4 }));
    const works = [1, 2, 3, 4].map(
      async (run) => readEvent((await world.answers(run))[0] as never, 'governance_passed').work,
    );
    expect(await Promise.all(works)).toEqual(['in_process', 'long', 'long', 'long']);
  });

  test('INV1, X22, S-T97: is asked again and gives the same answer, with no second token', async () => {
    const world = await worldWith();
    const offer = await world.ready();
    await world.askGate(offer);
    const before = await world.answers();
    await world.askGate(offer);
    await world.askGate(offer, world.deps('validator-b'));
    expect(await world.answers()).toEqual(before);
    expect(world.publishedTypes()).toEqual([
      ['governance_passed', 'first'],
      ['governance_passed', 'again'],
      ['governance_passed', 'again'],
    ]);
  });

  test('answers once when two replicas are asked in the same moment', async () => {
    const world = await worldWith();
    const offer = await world.ready();
    const verdicts = await Promise.all([world.askGate(offer), world.askGate(offer, world.deps('validator-b'))]);
    expect(verdicts).toEqual([{ verdict: 'done' }, { verdict: 'done' }]);
    expect(await world.answers()).toHaveLength(1);
  });

  test('asked again about a judged run, says only what the gate said', async () => {
    const world = await worldWith();
    const judged = await world.ended();
    await world.askJudge(judged);
    world.published.length = 0;
    await world.askGate({ event: judged.nodeReady as never, nodeReady: null });
    expect(world.publishedTypes()).toEqual([['governance_passed', 'again']]);
  });

  test('fails on what it cannot read', async () => {
    const world = await worldWith();
    const { event } = await world.ready();
    expect(await world.askGate({ event: { ...event, schema_version: 9 }, nodeReady: null })).toMatchObject({
      verdict: 'failed',
    });
    expect(await world.askGate({ event: { ...event, data: {} }, nodeReady: null })).toMatchObject({
      verdict: 'failed',
    });
    expect(await world.answers()).toEqual([]);
  });

  test('S-T95: never says that it failed when the store is away', async () => {
    const world = await worldWith();
    const offer = await world.ready();
    const deps = world.deps();
    const away = {
      append: () => Promise.reject(new Error('away')),
      appendAll: () => Promise.reject(new Error('away')),
    };
    const store = Object.assign(Object.create(world.store), away);
    await expect(world.askGate(offer, { ...deps, store })).rejects.toThrow('away');
    expect(await world.askGate(offer, deps)).toEqual({ verdict: 'done' });
  });
});

const answerUnder = async (
  mode: NonNullable<Parameters<typeof validatorWorld>[0]>['mode'],
  node: Parameters<Awaited<ReturnType<typeof validatorWorld>>['ready']>[0] = {},
) => {
  const world = await worldWith({ ...(mode === undefined ? {} : { mode }) });
  const verdict = await world.askGate(await world.ready(node));
  expect(verdict).toEqual({ verdict: 'done' });
  expect(world.copies()).toEqual([]);
  const [answer, ...more] = await world.answers();
  expect(more).toEqual([]);
  return answer;
};

describe('the gate under other protocols', () => {
  test('a mode without pre-validators cannot run', async () => {
    expect(await answerUnder({ pre: [] })).toMatchObject({
      type: 'governance_blocked',
      data: { outcome: 'halt', halt_type: 'validator_error', raw_halt_type: 'no_pre_validators', verdicts: [] },
    });
  });

  test('a denied command blocks before anything ran', async () => {
    const command_rules = [{ id: 'no_curl', deny: 'program == "curl"', message: 'no downloads' }];
    expect(await answerUnder({ command_rules }, { recipe: { command: "sh -c 'curl x'" } })).toMatchObject({
      type: 'governance_blocked',
      data: {
        outcome: 'halt',
        halt_type: 'blocker',
        raw_halt_type: 'blocked',
        verdicts: [{ severity: 'pass' }, { validator: 'commands', findings: [{ rule: 'no_curl' }] }],
      },
    });
  });

  test('governance rules see task and node', async () => {
    const rule = (severity: 'warning' | 'blocker', overridable: boolean) => ({
      governance_rules: [
        { id: 'no_gates', deny: 'node.kind == "action" && task.project == "p"', severity, overridable, message: 'no' },
      ],
    });
    expect((await answerUnder(rule('blocker', false)))?.data).toMatchObject({
      outcome: 'halt',
      verdicts: [{ validator: 'no_gates' }, {}, {}],
    });
    expect((await answerUnder(rule('blocker', true)))?.data).toMatchObject({ outcome: 'blocked_overridable' });
    expect(await answerUnder(rule('warning', false))).toMatchObject({
      type: 'governance_escalated',
      data: { halt_type: 'escalate', raw_halt_type: 'warnings' },
    });
  });

  test('X16: a governance rule that gives no answer halts', async () => {
    const governance_rules = [
      { id: 'r', deny: 'task.owner == "x"', severity: 'warning', overridable: true, message: '' } as const,
    ];
    expect((await answerUnder({ governance_rules }))?.data).toMatchObject({
      outcome: 'halt',
      halt_type: 'validator_error',
    });
  });

  test('a warning that the consensus bears is logged', async () => {
    const governance_rules = [{ id: 'r', deny: 'true', severity: 'warning', overridable: true, message: '' } as const];
    expect(await answerUnder({ governance_rules, consensus: 'majority' })).toMatchObject({
      type: 'governance_passed',
      data: { outcome: 'proceed_with_log' },
    });
  });

  test.each([
    ['test ! -e x', { type: 'governance_passed' }],
    ['false', { type: 'governance_blocked', data: { outcome: 'blocked_overridable' } }],
    ['no-such-program', { type: 'gate_faulted', data: { phase: 'gate', class: 'internal' } }],
  ])('a command looks at a copy of the start: %s', async (text, expected) => {
    expect(await answerUnder({ pre: [...builtInMode.pre, command(text)] })).toMatchObject(expected);
  });

  test.each<[string, Partial<ModeSpec>, string, string | null]>([
    ['all pass', { pre: [...builtInMode.pre, command('true')] }, 'governance_passed', null],
    ['one warns', { pre: [{ ...command('false'), severity: 'warning' }] }, 'governance_escalated', 'escalate'],
    ['one objects', { pre: [command('false')] }, 'governance_blocked', 'blocker'],
    [
      'one gives no usable answer',
      { pre: [validatorOf('early', { secret_scan: {} })] },
      'governance_blocked',
      'validator_error',
    ],
    ['one could not be run', { pre: [command('no-such-program')] }, 'gate_faulted', null],
    ['one has written no report', { pre: [report('true')] }, 'gate_faulted', null],
    ['a report has a failure', { pre: [report("printf '1..1\\nnot ok 1\\n'")] }, 'governance_blocked', 'blocker'],
  ])('S-T116: there is a token when all pass and in no other case: %s', async (_, mode, type, haltType) => {
    const answer = await answerUnder(mode);
    expect(answer?.type).toBe(type);
    expect(answer?.data).toEqual(
      type === 'governance_passed'
        ? expect.objectContaining({ token: expect.any(String) })
        : expect.not.objectContaining({ token: expect.anything() }),
    );
    if (haltType !== null) expect(answer?.data).toMatchObject({ halt_type: haltType });
  });

  test('a check that makes no sense before execution halts', async () => {
    expect((await answerUnder({ pre: [validatorOf('early', { secret_scan: {} })] }))?.data).toMatchObject({
      halt_type: 'validator_error',
    });
  });

  test('a source that cannot be reached is no verdict', async () => {
    const world = await worldWith({ mode: { pre: [command('true')] } });
    await world.askGate(await world.ready({}, { source: { url: '/nowhere', ref: 'main' } }));
    expect((await world.answers())[0]).toMatchObject({ type: 'gate_faulted', data: { class: 'workspace' } });
  });

  test('a protocol that is not there is no verdict', async () => {
    const world = await worldWith();
    const deps = { ...world.deps(), modeOf: () => Promise.reject(new ProtocolUnknown('gone')) };
    expect(await world.askGate(await world.ready(), deps)).toEqual({ verdict: 'done' });
    expect((await world.answers())[0]).toMatchObject({
      type: 'gate_faulted',
      data: { class: 'internal', detail: 'gone' },
    });
  });
});

/** Sees the commands that a replica runs. */
const watched = (deps: ReturnType<Awaited<ReturnType<typeof validatorWorld>>['deps']>) => {
  const runs: string[] = [];
  const begun = Promise.withResolvers<void>();
  const runner: typeof deps.runner = {
    run: (program) => {
      runs.push(JSON.stringify(program.program));
      begun.resolve();
      return deps.runner.run(program);
    },
  };
  return { deps: { ...deps, runner }, runs, started: begun.promise };
};

describe('a gate that takes long', () => {
  test('is left to whoever has the lease', async () => {
    const world = await worldWith({ mode: { pre: [command('true')] } });
    const offer = await world.ready();
    await world.leases.take({ stream: 'gate-r-1', phase: 'gate', owner: 'validator-b', ttlMs: 60_000 });
    expect(await world.askGate(offer)).toEqual({ verdict: 'done' });
    expect(await world.answers()).toEqual([]);
    await world.leases.release('validator-b', [{ stream: 'gate-r-1', phase: 'gate' }]);
    await world.askGate(offer);
    expect(await world.answers()).toHaveLength(1);
  });

  test('is not asked twice', async () => {
    const world = await worldWith({ mode: { pre: [command('true')] } });
    const offer = await world.ready();
    await world.askGate(offer);
    const [first] = await world.answers();
    const { deps, runs } = watched(world.deps('validator-b'));
    await world.askGate(offer, deps);
    expect(runs).toHaveLength(0);
    expect(await world.answers()).toEqual([first]);
    expect(world.publishedTypes()).toEqual([
      ['governance_passed', 'first'],
      ['governance_passed', 'again'],
    ]);
  });

  test('is given back on shutdown and says nothing', async () => {
    const world = await worldWith({ mode: { pre: [command('sleep 60')] } });
    const { deps, started } = watched(world.deps());
    const stop = new AbortController();
    const asked = world.askGate(await world.ready(), deps, stop.signal);
    await started;
    stop.abort();
    expect(await asked).toMatchObject({ verdict: 'later' });
    expect(await world.answers()).toEqual([]);
  });

  test('stops when its task has ended, and only then', async () => {
    const world = await worldWith({ mode: { pre: [command('sleep 60')] } });
    const { deps, started } = watched(world.deps());
    const asked = world.askGate(await world.ready(), deps);
    await started;
    deps.work.stop({ root: 'r', task: 'another', run: null });
    deps.work.stop({ root: 'r', task: 'r', run: null });
    expect(await asked).toEqual({ verdict: 'done' });
    expect(await world.answers()).toEqual([]);
  });

  test('is not begun for a task that has ended, though nobody heard of it', async () => {
    const world = await worldWith({ mode: { pre: [command('true')] } });
    const offer = await world.ready();
    await world.append('lineage-r', 'r', { type: 'task_blocked', data: { root: 'r', task: 'r' } });
    const { deps, runs } = watched(world.deps());
    expect(await world.askGate(offer, deps)).toEqual({ verdict: 'done' });
    expect(runs).toHaveLength(0);
    expect(await world.answers()).toEqual([]);
  });
});
