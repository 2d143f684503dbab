import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import type { Json } from '@fixpoint/contracts/json';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { commandHolds, executorWorld } from './run-reader.fixture.ts';

let world: ReturnType<typeof executorWorld>;
beforeEach(() => {
  world = executorWorld();
});
afterEach(() => world.close());

describe('the output of a node', () => {
  const schema = (json_schema: { [key: string]: Json }) => ({ all: [{ json_schema, timeout_ms: 5_000 }] });
  const report = async (node: Partial<NodeSpec>, more: Parameters<typeof world.gated>[1] = {}) => {
    const { run = 1 } = more;
    await world.offer(await world.gated(node, more));
    return world.report(run);
  };

  test('is the file that it names, and not what was printed', async () => {
    const recipe = { command: 'mkdir out && echo \'{"n": 1}\' > out/x.json && echo printed' };
    expect(await report({ recipe, output_file: 'out/x.json' })).toMatchObject({
      outcome: 'satisfied',
      output: { n: 1 },
    });
  });

  test('that does not fit its schema is unmet, whatever the exit code, and one that fits is met', async () => {
    const node = { recipe: { command: 'echo \'{"n": "1"}\' > x.json' }, output_file: 'x.json' };
    const wanted = { type: 'object', properties: { n: { type: 'integer' } } };
    const unmet = await report({ ...node, postcondition: schema(wanted) });
    expect(unmet).toMatchObject({ outcome: 'unmet', detail: expect.stringContaining('/n'), output: { n: '1' } });
    const failing = {
      ...node,
      recipe: { command: 'echo \'{"n": 1}\' > x.json; exit 3' },
      postcondition: schema(wanted),
    };
    expect(await report(failing, { run: 2 })).toMatchObject({ outcome: 'satisfied', output: { n: 1 }, exit_code: 3 });
  });

  test('is read again by a check, so that it is what a fix left', async () => {
    const node = {
      recipe: { command: 'echo 1 > x.json' },
      postcondition: commandHolds('test -f x.json'),
      output_file: 'x.json',
    };
    const first = (await report(node)) as unknown as { workspace_ref: WorkspaceRef };
    const fix = await report(
      { recipe: { command: 'echo 2 > x.json' } },
      { run: 2, workspace_ref: first.workspace_ref },
    );
    const ref = fix.workspace_ref as WorkspaceRef;
    const checked = await report(node, { run: 3, run_kind: 'check', judges: 1, workspace_ref: ref });
    expect(checked).toMatchObject({ outcome: 'satisfied', output: 2 });
  });

  test('is there although the recipe was skipped, when it is a file', async () => {
    const source = { url: world.repository(), ref: 'main' };
    const node = { recipe: { command: 'false' }, postcondition: commandHolds('test -f colour'), output_file: 'colour' };
    expect(await report(node, { source })).toMatchObject({ rung: 'skip', output: 'grey\n' });
  });

  test.each([
    ['exit 3', 'unmet', null],
    ['true', 'satisfied', 'grey\n'],
    ['echo red > colour; exit 3', 'unmet', 'red\n'],
  ])(
    'is nothing that was there before and that a failed recipe left as it was (%s)',
    async (command, outcome, output) => {
      const source = { url: world.repository(), ref: 'main' };
      const node = { recipe: { command }, output_file: 'colour', postcondition: schema({ const: 'grey\n' }) };
      expect(await report(node, { source })).toMatchObject({ outcome, output });
    },
  );

  test('is none behind a link, wherever it leads', async () => {
    const recipe = { command: 'mkdir real && echo 1 > real/x.json && ln -s real link' };
    expect(await report({ recipe, output_file: 'link/x.json' })).toMatchObject({ outcome: 'satisfied', output: null });
  });

  test('takes a folder also where recipe and check would need none', async () => {
    const recipe = { primitive: 'counter', with: { to: 1 } };
    const source = { url: world.repository(), ref: 'main' };
    expect(await report({ recipe, output_file: 'colour' }, { source })).toMatchObject({ output: 'grey\n' });
  });

  test.each([
    ['nothing', 'true'],
    ['a folder', 'mkdir x.json'],
    ['a link out of the workspace', 'ln -s /etc/passwd x.json'],
    ['a named pipe', 'mkfifo x.json'],
    ['an empty file', ': > x.json'],
  ])('is none where the file is %s', async (_, command) => {
    expect(await report({ recipe: { command }, output_file: 'x.json' })).toMatchObject({
      output: null,
      output_artifact: null,
    });
  });

  test('E11 of more than 32 KiB stands in an artifact, and its schema still sees the whole', async () => {
    const command = `node -e 'console.log(JSON.stringify({ list: Array(40000).fill(1) }))'`;
    const list = (maxItems: number) => ({ type: 'object', properties: { list: { type: 'array', maxItems } } });
    const node = { recipe: { command }, env: { PATH: process.env.PATH ?? '' } };
    const printed = await report({ ...node, postcondition: schema(list(40_000)) });
    expect(printed).toMatchObject({ outcome: 'satisfied', output: null });
    expect(printed.output_artifact).toMatch(/^[0-9a-f]{64}$/);
    const file = { ...node, recipe: { command: `${command} > x.json` }, output_file: 'x.json' };
    expect(await report({ ...file, postcondition: schema(list(40_000)) }, { run: 2 })).toMatchObject({
      outcome: 'satisfied',
      output_artifact: printed.output_artifact,
    });
    expect(await report({ ...file, postcondition: schema(list(39_999)) }, { run: 3 })).toMatchObject({
      outcome: 'unmet',
    });
  });
});

describe('a compute node', () => {
  test('repairs its recipe until the output fits', async () => {
    const node = {
      kind: 'compute' as const,
      recipe: { command: 'words=(one two) && echo "{\\"count\\": ${#words[@]}}"' },
      postcondition: { all: [{ cel: 'output.count == 2', timeout_ms: 5_000 }] },
      policy: 'recover' as const,
      max_repair_attempts: 1,
    };
    await world.offer(await world.gated(node));
    expect(await world.report()).toMatchObject({ outcome: 'satisfied', rung: 'self_repair', output: { count: 2 } });
  });
});

describe('a gate', () => {
  const gate = (command: string) => ({ kind: 'gate' as const, recipe: { command } });

  test.each([
    ['holds', 'echo \'{"n": 1}\'', { outcome: 'satisfied', postcondition_met: true, output: { n: 1 } }],
    ['says no', 'exit 1', { outcome: 'unmet', postcondition_met: false }],
    ['is not there', 'no-such-program', { outcome: 'indeterminate', postcondition_met: null }],
    ['can not be executed', './colour', { outcome: 'indeterminate', postcondition_met: null }],
    ['was killed', 'kill -9 $$', { outcome: 'indeterminate', postcondition_met: null }],
  ])('whose check %s', async (_, command, expected) => {
    const source = { url: world.repository(), ref: 'main' };
    await world.offer(await world.gated(gate(command), { source }));
    expect(await world.report()).toMatchObject(expected);
    expect((await world.calls()).map(({ tool }) => tool)).toEqual(['recipe']);
  });

  test('I-B09 leaves nothing behind, and a primitive may be one', async () => {
    const source = { url: world.repository(), ref: 'main' };
    await world.offer(await world.gated(gate('echo x > left'), { source }));
    const { workspace_ref: ref } = (await world.report()) as unknown as { workspace_ref: WorkspaceRef };
    expect(ref.commit).toBe(ref.base);
    await world.offer(
      await world.gated({ kind: 'gate', recipe: { primitive: 'git-clean', with: {} } }, { run: 2, source }),
    );
    expect(await world.report(2)).toMatchObject({ outcome: 'satisfied', postcondition_met: true });
  });
});
