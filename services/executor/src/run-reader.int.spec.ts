import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { actionStream, lineageStream } from '@fixpoint/contracts/streams';
import { ProtocolUnknown } from '@fixpoint/documents/protocol-catalog';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { commandHolds, executorWorld } from './run-reader.fixture.ts';
import { runReader } from './run-reader.ts';

let world: ReturnType<typeof executorWorld>;
beforeEach(() => {
  world = executorWorld();
});
afterEach(() => world.close());

const done = { verdict: 'done' };
const publishedTypes = () => world.published.map(({ offer }) => offer.event.type);

describe('a run with a postcondition', () => {
  test('I-T01 S-T60 does nothing when it already holds', async () => {
    const recipe = { command: 'echo ran > ran' };
    const source = { url: world.repository(), ref: 'main' };
    const offer = await world.gated({ recipe, postcondition: commandHolds('grep -q grey colour') }, { source });
    expect(await world.offer(offer)).toEqual(done);
    expect(await world.report()).toMatchObject({ outcome: 'satisfied', rung: 'skip', postcondition_met: true });
    expect((await world.calls()).map(({ tool }) => tool)).toEqual(['postcondition']);
  });

  test('I-T02 is satisfied by what the recipe left, whatever its exit code', async () => {
    const source = { url: world.repository(), ref: 'main' };
    const node = {
      recipe: { command: 'echo red > colour; exit 3' },
      postcondition: commandHolds('grep -q red colour'),
    };
    await world.offer(await world.gated(node, { source }));
    expect(await world.report()).toMatchObject({ outcome: 'satisfied', rung: 'recipe', exit_code: 3 });
  });

  test('I-T05 is repaired: the corrected command is the one that runs, and is recorded with its rule', async () => {
    const source = { url: world.repository(), ref: 'main' };
    const command =
      "mkdir -p __pycache__ && touch __pycache__/a b && git add -A -- . ':!__pycache__' && git commit -q -m deps";
    const node = {
      recipe: { command },
      postcondition: commandHolds('test "$(git ls-files)" = "$(printf "b\\ncolour")"'),
    };
    const offer = await world.gated({ ...node, policy: 'recover', max_repair_attempts: 1 }, { source });
    await world.offer(offer);
    const calls = await world.calls();
    const repair = calls.find(({ tool }) => tool === 'self_repair');
    expect(repair?.command).toContain(':(exclude)__pycache__');
    expect(repair?.rule).toBeTruthy();
    expect(await world.report()).toMatchObject({ rung: 'self_repair', repaired_command: repair?.command });
  });

  test('I-T07 asks no model under policy required', async () => {
    const node = { recipe: { command: 'false' }, postcondition: commandHolds('test -e never') };
    await world.offer(await world.gated(node));
    expect(await world.report()).toMatchObject({ outcome: 'unmet', rung: 'recipe' });
    expect((await world.calls()).map(({ tool }) => tool)).not.toContain('repair_model');
  });

  test('X20 I-T24 says how it ended and on which rung, on failure too, and offers it to whoever is next', async () => {
    const offer = await world.gated({ recipe: { command: 'false' }, postcondition: commandHolds('test -e never') });
    await world.offer(offer);
    expect(publishedTypes()).toEqual(['node_verified_action']);
    expect(await world.report()).toMatchObject({ outcome: 'unmet', rung: 'recipe', policy: 'required' });
    expect(world.published[0]?.offer.nodeReady?.id).toBe(offer.nodeReady.id);
  });

  test('X34 goes on degraded under policy best_effort', async () => {
    const node = {
      recipe: { command: 'false' },
      postcondition: commandHolds('test -e never'),
      policy: 'best_effort' as const,
    };
    await world.offer(await world.gated(node));
    expect(await world.report()).toMatchObject({ outcome: 'degraded' });
  });

  test('X18 says nothing when its check was timed out', async () => {
    await world.offer(await world.gated({ postcondition: commandHolds('sleep 60', 300) }));
    expect(await world.report()).toMatchObject({ outcome: 'indeterminate', postcondition_met: null });
  });
});

describe('what a run may do', () => {
  test('a command that a rule denies is not run, and recorded', async () => {
    world.close();
    world = executorWorld({ mode: { command_rules: [{ id: 'no-touch', deny: "program == 'touch'", message: 'no' }] } });
    await world.offer(
      await world.gated({ recipe: { command: 'sh -c "touch x"' }, postcondition: commandHolds('test -e x') }),
    );
    expect(await world.calls()).toContainEqual(expect.objectContaining({ outcome: 'denied', rule: 'no-touch' }));
    expect(await world.report()).toMatchObject({ outcome: 'unmet' });
  });

  test('C23 changing a protected path breaks the firewall, although the check would hold', async () => {
    world.close();
    world = executorWorld({ mode: { protected: ['colour'] } });
    const source = { url: world.repository(), ref: 'main' };
    const node = { recipe: { command: 'echo red > colour' }, postcondition: commandHolds('grep -q red colour') };
    await world.offer(await world.gated(node, { source }));
    expect(await world.report()).toMatchObject({ firewall_broken: expect.stringContaining('protected') });
    expect((await world.report()).outcome).not.toBe('satisfied');
  });

  test('a bad token refuses the run before anything is done', async () => {
    world.setToken({ valid: false, reason: 'token_expired', detail: 'too late' });
    await world.offer(await world.gated({ recipe: { command: 'touch x' } }));
    expect((await world.actionEvents()).map(({ type }) => type)).toEqual(['run_refused']);
    expect(publishedTypes()).toEqual(['run_refused']);
  });

  test('F7 an event that it can not read fails alone', async () => {
    const offer = await world.gated({});
    const unreadable = { ...offer, event: { ...offer.event, schema_version: 99 } };
    expect(await world.offer(unreadable)).toMatchObject({ verdict: 'failed' });
    expect(await world.offer(offer)).toEqual(done);
  });

  test('a protocol that is not there refuses the run', async () => {
    const deps = {
      ...world.deps('executor-a'),
      modeOf: () => Promise.reject(new ProtocolUnknown('x@9')),
    };
    await world.offer(await world.gated({}), deps);
    expect((await world.actionEvents())[0]?.data).toMatchObject({ reason: 'protocol_unknown' });
  });

  test('E1 NUL bytes and lone surrogates in goal, command and output are stored', async () => {
    await world.offer(await world.gated({ goal: 'a\0b\ud800', recipe: { command: "printf 'a\\0b'" } }));
    expect(await world.report()).toMatchObject({ outcome: 'satisfied', output: 'a\0b' });
    await world.offer(await world.gated({ recipe: { command: 'echo a\0b' } }, { run: 2 }));
    expect(await world.report(2)).toMatchObject({ outcome: 'unmet' });
    expect(await world.calls(2)).toContainEqual(
      expect.objectContaining({ outcome: 'not_started', command: 'echo a\0b' }),
    );
  });
});

describe('a run happens once', () => {
  const touches = () => ({ recipe: { command: `echo x >> ${join(world.folder, 'effects')}` } });
  const effects = () => (existsSync(join(world.folder, 'effects')) ? 1 : 0);

  test('S-T91 an offer of an ended run publishes its end again and does nothing', async () => {
    const offer = await world.gated(touches());
    await world.offer(offer);
    const before = await world.actionEvents();
    expect(await world.offer(offer)).toEqual(done);
    expect(await world.actionEvents()).toEqual(before);
    expect(world.published.at(-1)).toMatchObject({ reoffer: expect.stringContaining('fresh') });
  });

  test('S-T94 eight executors that are offered it at once do it once', async () => {
    const offer = await world.gated(touches());
    const verdicts = await Promise.all(
      [...'abcdefgh'].map((owner) => world.offer(offer, world.deps(`executor-${owner}`))),
    );
    expect(verdicts).toEqual(Array(8).fill(done));
    expect((await world.actionEvents()).filter(({ type }) => type === 'action_started')).toHaveLength(1);
  });

  test('a revoked run never starts', async () => {
    const offer = await world.gated(touches());
    await world.append(actionStream('r', 1), 'r', 'run_revoked', {
      root: 'r',
      task: 'r',
      address: '0',
      run: 1,
      reason: 'no_answer',
    });
    expect(await world.offer(offer)).toEqual(done);
    expect(effects()).toBe(0);
  });

  test('a task that has ended starts nothing', async () => {
    const offer = await world.gated(touches());
    await world.append(lineageStream('r'), 'r', 'task_blocked', { task: 'r' });
    expect(await world.offer(offer)).toEqual(done);
    expect(effects()).toBe(0);
  });

  test('a started run without an owner is ended as lost and not done again', async () => {
    const offer = await world.gated(touches());
    const started = {
      root: 'r',
      task: 'r',
      address: '0',
      run: 1,
      owner: 'gone',
      token_id: 't',
      run_kind: 'normal',
      node_id: 'n',
    };
    await world.append(actionStream('r', 1), 'r', 'action_started', started);
    expect(await world.offer(offer)).toEqual(done);
    expect(await world.report()).toMatchObject({ outcome: 'faulted', fault_class: 'lost_executor' });
    expect(effects()).toBe(0);
  });

  test('F13 a stopping executor ends its runs as a fault of the machinery, at once', async () => {
    const offer = await world.gated({ recipe: { command: 'sleep 600' } });
    const stop = new AbortController();
    const deps = world.deps('executor-a');
    const handled = runReader(deps).handle([offer], stop.signal);
    while ((await world.actionEvents()).length === 0) await new Promise(setImmediate);
    stop.abort();
    expect(await handled).toEqual([done]);
    expect(await world.report()).toMatchObject({ outcome: 'faulted', fault_class: 'shutdown' });
  });

  test('B11 a stop reaches a silent recipe', async () => {
    const offer = await world.gated({ recipe: { command: 'sleep 600' } });
    const deps = world.deps('executor-a');
    const handled = world.offer(offer, deps);
    while ((await world.actionEvents()).length === 0) await new Promise(setImmediate);
    deps.work.stop({ root: 'r', task: 'r', run: null });
    await handled;
    expect(await world.report()).toMatchObject({ outcome: 'cancelled' });
  });

  test('A17 B18 an owner that lost its lease writes nothing more', async () => {
    const offer = await world.gated({ recipe: { command: 'sleep 600' } });
    const deps = world.deps('executor-a');
    const handled = world.offer(offer, deps);
    while ((await world.actionEvents()).length === 0) await new Promise(setImmediate);
    const key = { stream: actionStream('r', 1), phase: 'action' };
    await world.leases.release('executor-a', [key]);
    await world.leases.take({ ...key, owner: 'executor-b', ttlMs: 60_000 });
    await deps.work.renew(AbortSignal.abort());
    await handled;
    expect((await world.actionEvents()).map(({ type }) => type)).not.toContain('node_verified_action');
  });
});

describe('a check of the output', () => {
  const node = {
    recipe: { command: 'echo \'{"n": 1}\'' },
    postcondition: { all: [{ cel: 'output.n == 1 && exit_code == 0 && stdout.contains("n")', timeout_ms: 5_000 }] },
  };

  test('is asked, in a check run, about what the judged run put out', async () => {
    await world.offer(await world.gated(node));
    expect(await world.report()).toMatchObject({ outcome: 'satisfied', rung: 'recipe', output: { n: 1 } });
    await world.offer(await world.gated(node, { run: 2, run_kind: 'check', judges: 1 }));
    expect(await world.report(2)).toMatchObject({
      outcome: 'satisfied',
      rung: 'check',
      output: { n: 1 },
      exit_code: 0,
    });
    expect(await world.calls(2)).toEqual([]);
  });

  test('is unmet where no run is judged, so that the recipe runs', async () => {
    await world.offer(await world.gated(node, { run_kind: 'check' }));
    expect(await world.report()).toMatchObject({ outcome: 'unmet', postcondition_met: false });
  });
});

describe('a primitive', () => {
  test('that is stopped says nothing', async () => {
    const deps = world.deps('executor-a');
    const node = {
      recipe: { primitive: 'commit', with: { message: 'm' } },
      postcondition: { all: [{ primitive: 'git-clean', with: {}, timeout_ms: 9_000 }] },
    };
    const handled = world.offer(await world.gated(node), deps);
    while ((await world.actionEvents()).length === 0) await new Promise(setImmediate);
    deps.work.stop({ root: 'r', task: 'r', run: null });
    await handled;
    expect(await world.report()).toMatchObject({ outcome: 'cancelled' });
  });

  test('with wrong parameters fails as a recipe and says nothing as a check', async () => {
    const source = { url: world.repository(), ref: 'main' };
    await world.offer(await world.gated({ recipe: { primitive: 'file-write', with: {} } }, { source }));
    expect(await world.report()).toMatchObject({ outcome: 'unmet' });
    const postcondition = { all: [{ primitive: 'nowhere', with: {}, timeout_ms: 1_000 }] };
    await world.offer(await world.gated({ postcondition }, { run: 2, source }));
    expect(await world.report(2)).toMatchObject({ outcome: 'indeterminate' });
  });
});

describe('work in process', () => {
  const node = {
    recipe: { primitive: 'counter', with: { to: 3 } },
    postcondition: { all: [{ primitive: 'counter-at', with: { value: 3 }, timeout_ms: 1_000 }] },
  };

  test('is one append, from its start to its end', async () => {
    const offer = await world.gated(node);
    expect(await world.offer(offer)).toEqual(done);
    expect((await world.actionEvents()).map(({ type }) => type)).toEqual([
      'action_started',
      'tool_called',
      'tool_called',
      'tool_called',
      'node_verified_action',
    ]);
    expect(await world.report()).toMatchObject({ outcome: 'satisfied', rung: 'recipe', output: { value: 3 } });
  });

  test('is judged by its check', async () => {
    const wrong = { all: [{ primitive: 'counter-at', with: { value: 4 }, timeout_ms: 1_000 }] };
    await world.offer(await world.gated({ ...node, postcondition: wrong }));
    expect(await world.report()).toMatchObject({ outcome: 'unmet' });
  });

  test('S-T91 offered twice appends once', async () => {
    const offer = await world.gated(node);
    await world.offer(offer);
    await world.offer(offer);
    expect(await world.actionEvents()).toHaveLength(5);
  });
});

describe('a workspace', () => {
  test('goes from run to run, with commits and what is not committed', async () => {
    const source = { url: world.repository(), ref: 'main' };
    await world.offer(await world.gated({ recipe: { command: 'echo red > colour && echo new > file' } }, { source }));
    const workspace_ref = (await world.report()).workspace_ref as never;
    const node = { recipe: { command: 'cat colour file && git status --porcelain' } };
    await world.offer(await world.gated(node, { run: 2, source, workspace_ref }));
    expect(await world.report(2)).toMatchObject({ output: 'red\nnew\n M colour\n?? file\n' });
  });

  test('of a fix is captured under a name that git takes', async () => {
    const source = { url: world.repository(), ref: 'main' };
    const offer = await world.gated(
      { recipe: { command: 'echo red > colour' } },
      { source, task: 'r.f1.f1', address: '0~1~1' },
    );
    await world.offer(offer);
    const [end] = (await world.store.readStream(actionStream('r.f1.f1', 1))).slice(-1);
    expect(end?.data).toMatchObject({ outcome: 'satisfied', workspace_ref: { bundle: expect.any(String) } });
  });

  test('that is not there is a fault and no evidence', async () => {
    await world.offer(await world.gated({}, { source: { url: join(world.folder, 'nowhere'), ref: 'main' } }));
    expect(await world.report()).toMatchObject({ outcome: 'faulted', fault_class: 'workspace' });
  });

  test('that its recipe removed is empty, and its check has the word', async () => {
    const source = { url: world.repository(), ref: 'main' };
    const node = { recipe: { command: 'rm -rf "$PWD"' }, postcondition: commandHolds('test -e made') };
    await world.offer(await world.gated(node, { source }));
    expect(await world.report()).toMatchObject({ outcome: 'unmet', workspace_ref: { bundle: expect.any(String) } });
    const met = { ...node, postcondition: commandHolds('test ! -e colour') };
    await world.offer(await world.gated(met, { source, run: 2 }));
    expect(await world.report(2)).toMatchObject({ outcome: 'satisfied', rung: 'recipe' });
  });

  test('that somebody else removed with all others is a fault', async () => {
    const node = { recipe: { command: `rm -rf ${join(world.folder, 'runs')}` } };
    await world.offer(await world.gated(node));
    expect(await world.report()).toMatchObject({ outcome: 'faulted', fault_class: 'workspace' });
  });

  test('a check run leaves it where it was', async () => {
    const source = { url: world.repository(), ref: 'main' };
    const workspace_ref = await world.workspaces.resolve(source);
    const node = { postcondition: commandHolds('echo dirt > dirt && grep -q grey colour') };
    await world.offer(await world.gated(node, { run_kind: 'check', source, workspace_ref }));
    expect(await world.report()).toMatchObject({ outcome: 'satisfied', rung: 'check', workspace_ref });
  });
});

describe('the machinery', () => {
  const failing = (error: Error) => {
    const deps = world.deps('executor-a');
    return { ...deps, runner: { run: () => Promise.reject(error) } };
  };
  const systemError = (code: string, syscall: string) => Object.assign(new Error(`failed: ${code}`), { code, syscall });

  test.each([
    ['ENOSPC', 'mkdtemp', 'disk'],
    ['EDQUOT', 'write', 'disk'],
    ['EIO', 'read', 'disk'],
    ['EROFS', 'mkdir', 'disk'],
    ['EACCES', 'mkdir', 'internal'],
  ])('that fails with %s is a fault', async (code, syscall, faultClass) => {
    const deps = failing(systemError(code, syscall));
    expect(await world.offer(await world.gated({}), deps)).toEqual({ verdict: 'done' });
    expect(await world.report()).toMatchObject({ outcome: 'faulted', fault_class: faultClass });
  });

  test.each([
    ['ECONNREFUSED', 'connect'],
    ['EACCES', 'connect'],
    ['57P01', 'read'],
  ])('whose store is down is asked later: %s of %s', async (code, syscall) => {
    const offer = await world.gated({});
    const verdict = await world.offer(offer, failing(systemError(code, syscall))).catch(() => 'thrown');
    expect(verdict).not.toEqual({ verdict: 'done' });
    expect(await world.report()).toBeUndefined();
  });
});
