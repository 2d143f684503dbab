import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TaskSpec } from '@fixpoint/contracts/documents/task';
import type { Json } from '@fixpoint/contracts/json';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import { executorWorld } from '@fixpoint/executor/run-reader.fixture';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { admittedSpec, secondRun } from './second-run.ts';

let world: ReturnType<typeof executorWorld>;
beforeEach(() => {
  world = executorWorld();
});
afterEach(() => world.close());

/** Each would write the file `pwned`, or change the command around it, wherever it became part of a program's text. */
const PAYLOADS = [
  '$(touch pwned)',
  '`touch pwned`',
  '; touch pwned #',
  '" ; touch pwned ; "',
  "' ; touch pwned ; '",
  '\n touch pwned\n',
  '|| touch pwned',
  '$IFS ${IFS} $0 ${{ inputs.other }} {{}}',
  '-rf .',
  "'); require('fs').writeFileSync('pwned', ''); ('",
  '%s%n \\ \u202e',
];

/** The first node leaves a file and puts out `output`; the second is run as the decider fills it in. */
const runSecond = async (spec: TaskSpec, output: Json) => {
  const second = secondRun(spec, output);
  const source = { url: world.repository(), ref: 'main' };
  await world.offer(await world.gated({ recipe: { command: 'echo x > new' } }, { source }));
  const left = (await world.report()).workspace_ref as WorkspaceRef;
  await world.offer(await world.gated(second.node, { run: 2, source, workspace_ref: left }));
  const report = await world.report(2);
  const folder = join(world.folder, 'seen');
  await world.workspaces.materialise(report.workspace_ref as WorkspaceRef, folder);
  const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
  return { node: second.node, report, read, isPwned: () => exists(read, 'pwned') };
};

const exists = (read: (path: string) => string, path: string): boolean => {
  try {
    read(path);
    return true;
  } catch {
    return false;
  }
};

/** The second node of a task whose first puts out the payloads: as a list, and by number. */
const task = (second: string): TaskSpec =>
  admittedSpec(
    `kind: task/v1
name: t
inputs: { payloads: ${JSON.stringify(PAYLOADS)}, other: never }
goal: "$\{{ inputs.other }}"
nodes:
  - id: first
    recipe: { command: print }
    outputs: { json_schema: { type: object } }
  - id: second
${second}`,
  );

const output = { payloads: PAYLOADS, paths: PAYLOADS.filter((text) => !/[\n:]/.test(text)) };
const numbers = PAYLOADS.map((_, index) => index);
const placeholder = (index: number, from = 'nodes.first.output'): string => `$\{{ ${from}.payloads.${index} }}`;
const all = (from?: string): string => numbers.map((index) => `<${placeholder(index, from)}>`).join('');
const filled = PAYLOADS.map((text) => `<${text}>`).join('');

describe('values that would change a program if they became part of its text', () => {
  test('are nothing but values in the variables of recipe and check, and in a goal', async () => {
    const env = numbers.map((n) => `OUT${n}: "${placeholder(n)}", IN${n}: "${placeholder(n, 'inputs')}"`).join(', ');
    const write = numbers.map((n) => `printf "%s" "$OUT${n}" > out${n}; printf "%s" "$IN${n}" > in${n}`).join('; ');
    const check = numbers.map((n) => `test "$(cat out${n}; echo .)" = "$OUT${n}."`).join(' && ');
    const { node, report, read, isPwned } = await runSecond(
      task(`    goal: "${all()}"
    env: { ${env}, ALL: "$\{{ nodes.first.output }}" }
    recipe: { command: '${write}; printf "%s" "$ALL" > all' }
    postcondition: { command: '${check}' }
`),
      output,
    );
    expect(report).toMatchObject({ outcome: 'satisfied', postcondition_met: true });
    for (const n of numbers) expect([read(`out${n}`), read(`in${n}`)]).toEqual([PAYLOADS[n], PAYLOADS[n]]);
    expect(JSON.parse(read('all'))).toEqual(output);
    expect(node.goal).toBe(filled);
    expect(isPwned()).toBe(false);
  });

  test('I-B07 are nothing but values, alone, in a text or as a list, where a primitive takes them', async () => {
    const { report, read, isPwned } = await runSecond(
      task(`    recipe: { primitive: file-write, with: { path: out, content: "${all()}" } }
    postcondition:
      all:
        - { primitive: file-matches, with: { path: out, equals: "${all('inputs')}" } }
        - { primitive: git-clean, with: { exclude: "$\{{ nodes.first.output.paths }}" } }
`),
      { ...output, paths: ['out', 'new', ...output.paths] },
    );
    expect(report).toMatchObject({ outcome: 'satisfied', postcondition_met: true });
    expect(read('out')).toBe(filled);
    expect(isPwned()).toBe(false);
  });

  test('are nothing but values in the message of a commit', async () => {
    const { report, isPwned } = await runSecond(
      task(`    env: { MESSAGE: "${all()}" }
    recipe: { primitive: commit, with: { message: "${all()}" } }
    postcondition: { command: 'test "$(git log -1 --format=%B)" = "$MESSAGE"' }
`),
      output,
    );
    expect(report).toMatchObject({ outcome: 'satisfied', rung: 'recipe' });
    expect(isPwned()).toBe(false);
  });

  test.each(['../out', '/etc/motd', '.git/config', 'a/../../b'])(
    'do not lead a primitive out of its workspace: %j',
    async (path) => {
      const { report } = await runSecond(
        task(`    recipe: { primitive: file-write, with: { path: "$\{{ nodes.first.output.path }}", content: x } }\n`),
        { path },
      );
      expect(report).toMatchObject({ outcome: 'unmet' });
      expect(report.detail).toContain('with.path');
    },
  );

  test('can not be written into a command: the document is refused', () => {
    expect(() => task('    recipe: { command: "echo ${{ inputs.other }}" }\n')).toThrow('FX131');
  });
});
