import { describe, expect, test } from '@jest/globals';
import { admitTask } from '../admit-task.ts';
import type { LintOptions } from '../lint-task.ts';

const options: LintOptions = {
  knownPrimitives: {
    names: ['counter', 'file-write', 'git-clean'],
    problems: (name, parameters) => {
      const { to, content } = parameters as { to?: unknown; content?: unknown };
      if (name === 'counter' && typeof to !== 'number') return ['with.to: is no number'];
      return name === 'file-write' && typeof content !== 'string' ? ['with.content: is no text'] : [];
    },
    hasEffects: (name) => name !== 'git-clean',
  },
  knownModels: ['default'],
  knownAgents: null,
  knownModes: ['build'],
  relativeGitUrl: 'refused',
};

/** Codes with places; the text starts in line 3. */
const lint = (text: string): string[] =>
  admitTask(`kind: task/v1\nname: t\n${text}`, options).diagnostics.map(
    ({ code, line, column }) => `${code} ${line}:${column}`,
  );

const messages = (text: string): string[] =>
  admitTask(`kind: task/v1\nname: t\n${text}`, options).diagnostics.map(({ message, hint }) => `${message} ${hint}`);

/** One node after a node `scan` whose output is known; `rest` starts in line 10. */
const afterScan = (rest: string, scan = ''): string => `inputs: { name: web, limits: { high: 2 }, list: [a] }
goal: "All of \${{ inputs.name }}: \${{ inputs.limits.high }}, \${{ inputs.list.0 }}"
nodes:
  - id: scan
    kind: compute
    recipe: { command: scan }
    outputs: { json_schema: { type: object, required: [high], properties: { high: { type: integer }, low: { type: integer }, paths: { type: array } }, additionalProperties: false } }${scan}
  - recipe: { command: use }
${rest}`;

const use = (text: string, before = ''): string => afterScan(`    env: { A: "${before}\${{ ${text} }}" }`);

describe('references that are all right', () => {
  test.each([
    ['inputs.name', ['FX140 9:14']],
    ['inputs.limits.high', ['FX140 9:14']],
    ['inputs.limits', ['FX140 9:14']],
    ['inputs.list.0', ['FX140 9:14']],
    ['nodes.scan.output.high', []],
    ['nodes.scan.output.low ?? 0', []],
    ['nodes.scan.outcome', []],
  ])('%s; all that is said is which outputs nobody uses', (text, expected) => {
    expect(lint(use(text))).toEqual(expected);
  });

  test('nothing is said of a task that passes data as it may', () => {
    expect(lint(use('nodes.scan.output.high'))).toEqual([]);
  });

  test('braces of other tools, and escaped ones, are text', () => {
    const nodes = `nodes:\n  - recipe: { command: "echo '\${{ github.ref }}'" }\n    env: { A: "$\${{ inputs.x }}" }\n`;
    expect(lint(nodes)).toEqual([]);
  });
});

describe('references that are wrong are found where they stand', () => {
  test.each([
    ['one that can not be read', use('inputs.name | upper'), ['FX130 11:15', 'FX140 9:14']],
    ['an unknown input', use('inputs.nme'), ['FX132 11:15', 'FX140 9:14']],
    ['a part of an input that is not there', use('inputs.limits.low'), ['FX132 11:15', 'FX140 9:14']],
    ['an unknown node', use('nodes.scn.output'), ['FX133 11:15', 'FX140 9:14']],
    ['a node that does not stand before', use('nodes.node-2.output'), ['FX133 11:15', 'FX140 9:14']],
    ['what the schema never lets be', use('nodes.scan.output.hihg'), ['FX135 11:15']],
    ['what is below a number', use('nodes.scan.output.high.x'), ['FX135 11:15']],
    ['what the schema does not require', use('nodes.scan.output.low'), ['FX134 11:15']],
    ['a list in a text', use('nodes.scan.output.paths ?? []', 'x'), ['FX136 11:15']],
    ['an object in a text', use('inputs.limits', 'x'), ['FX136 11:15', 'FX140 9:14']],
  ])('%s', (_, text, expected) => {
    expect(lint(text).sort()).toEqual([...expected].sort());
  });

  test('the name that was meant is in the hint', () => {
    expect(messages(use('inputs.nme')).at(-1)).toContain('`name`');
    expect(messages(use('nodes.scn.output')).at(-1)).toContain('`scan`');
  });

  test('in a goal, a check and a list', () => {
    const text = afterScan(`    goal: "\${{ inputs.a }}"
    postcondition:
      all:
        - { primitive: git-clean, with: { exclude: [x, "\${{ inputs.b }}"] } }
  - recipe: { command: make }
    postcondition: { primitive: git-clean, with: { exclude: ["\${{ inputs.c }}"] } }`);
    expect(lint(text)).toEqual(['FX140 9:14', 'FX132 11:11', 'FX132 14:56', 'FX132 16:62']);
  });

  test('in the goal of the task, which knows nothing but inputs', () => {
    const goal = (text: string): string => `inputs: { a: null }\ngoal: '\${{ ${text} }}'\nrecipe: { command: make }\n`;
    expect(lint(goal('inputs.b'))).toEqual(['FX141 3:14', 'FX132 4:7']);
    expect(lint(goal('nodes.main.output'))).toEqual(['FX141 3:14', 'FX133 4:7']);
    expect(lint(goal('inputs.a'))).toEqual(['FX132 4:7']);
    expect(lint(goal('inputs.a ?? "b"'))).toEqual([]);
    expect(lint(goal('input'))).toEqual(['FX141 3:14', 'FX130 4:7']);
  });
});

describe('a value would never become program text', () => {
  test.each([
    ['a command', 'recipe: { command: "echo ${{ inputs.a }}" }', ['FX131 4:20']],
    ['a script', 'recipe: { language: node, script: "log(${{inputs.a}})" }', ['FX131 4:35']],
    ['a check', 'recipe: { command: x }\npostcondition: { command: "test ${{ inputs.a }}" }', ['FX131 5:27']],
    [
      'an expression',
      'recipe: { command: x }\npostcondition: { cel: "output == ${{ inputs.a }}" }',
      ['FX131 5:23', 'FX115 5:23'],
    ],
    ['a label', 'labels: { a: "${{ inputs.a }}" }\nrecipe: { command: x }', ['FX131 4:14']],
    ['a URL', 'workspace: { git: { url: "https://${{ inputs.a }}" } }\nrecipe: { command: x }', ['FX131 4:26']],
    ['the language of another tool', 'recipe: { command: "sh -c \'echo ${{ nodes.b.output }}\'" }', ['FX131 4:20']],
  ])('%s with a reference in it is refused', (_, rest, expected) => {
    expect(lint(`inputs: { a: 1 }\n${rest}\n`).filter((found) => !found.startsWith('FX141'))).toEqual(expected);
  });

  test('and the hint says how it gets there', () => {
    const [, said] = messages('inputs: { a: 1 }\nrecipe: { command: "echo ${{ inputs.a }}" }\n');
    expect(said).toContain('environment variables');
    expect(said).toContain('"$NAME"');
  });
});

describe('a value that may not be there', () => {
  const skipped = (rest: string): string[] => lint(afterScan(rest, "\n    if: inputs.name == 'web'"));

  test('since its node may be skipped is a warning, until there is a default or the node asks', () => {
    expect(skipped(`    env: { A: "\${{ nodes.scan.output.high }}" }`)).toEqual(['FX134 12:15']);
    expect(skipped(`    env: { A: "\${{ nodes.scan.output.high ?? 0 }}" }`)).toEqual([]);
    expect(skipped(`    env: { A: "\${{ nodes.scan.outcome }}" }`)).toEqual([]);
    const asks = `    if: nodes.scan.outcome == 'satisfied'\n    env: { A: "\${{ nodes.scan.output.high }}" }`;
    expect(skipped(`${asks}\n  - recipe: { command: make }`)).toEqual([]);
  });

  test('since its node may end as degraded', () => {
    const text = afterScan(`    env: { A: "\${{ nodes.scan.output.high }}" }`, '\n    policy: best_effort');
    expect(lint(text)).toEqual(['FX134 12:15']);
  });

  test.each([
    ['primitive: git-clean', ['FX134 7:15']],
    ['command: test -f out', []],
    ['cel: output.x > 1', []],
  ])('since its recipe is skipped when the check holds (%s)', (check, expected) => {
    const text = `nodes:\n  - { id: a, recipe: { command: x }, postcondition: { ${check} } }
  - recipe: { command: y }\n    goal: g\n    env: { A: "\${{ nodes.a.output.x }}" }\n`;
    expect(lint(text)).toEqual(expected);
  });
});

describe('the type of a value', () => {
  const write = (primitive: string): string[] =>
    lint(`inputs: { n: 3, text: a, list: [b] }\ngoal: "\${{ inputs.n }} \${{ inputs.text }} \${{ inputs.list.0 }}"
nodes:
  - id: scan
    kind: compute
    recipe: { command: scan }
    outputs: { json_schema: { type: object, required: [n, s], properties: { n: { type: integer }, s: { type: string } } } }
  - recipe: { ${primitive} }\n    goal: "\${{ nodes.scan.output.n }}"\n`);

  test.each([
    ['an input of the right type', 'primitive: counter, with: { to: "${{ inputs.n }}" }', []],
    ['an input of another', 'primitive: counter, with: { to: "${{ inputs.text }}" }', ['FX013 10:26']],
    ['a number inside a text', 'primitive: counter, with: { to: "1${{ inputs.n }}" }', ['FX013 10:26']],
    ['a default of another', 'primitive: counter, with: { to: \'${{ inputs.list.7 ?? "a" }}\' }', ['FX013 10:26']],
    ['an output of the right type', 'primitive: counter, with: { to: "${{ nodes.scan.output.n }}" }', []],
    ['an output of another', 'primitive: counter, with: { to: "${{ nodes.scan.output.s }}" }', ['FX013 10:26']],
    ['an output of an unknown one', 'primitive: counter, with: { to: "${{ nodes.scan.output.x }}" }', []],
    ['a list where a text belongs', 'primitive: file-write, with: { content: "${{ inputs.list }}" }', ['FX013 10:26']],
    ['anything within a text', 'primitive: file-write, with: { content: "n: ${{ inputs.n }}" }', []],
  ])('%s', (_, primitive, expected) => {
    expect(write(primitive)).toEqual(expected);
  });
});

describe('a condition', () => {
  const condition = (text: string): string[] =>
    lint(afterScan(`  - recipe: { command: x }\n    if: ${JSON.stringify(text)}`)).filter(
      (found) => !found.startsWith('FX140'),
    );

  test.each([
    ["inputs.name == 'web'", []],
    ["nodes.scan.outcome != 'skipped' && nodes.scan.output.high > 0", []],
    ['nodes["scan"].output.paths.exists(path, path == inputs["name"])', []],
    ['inputs.name ==', ['FX137 12:9']],
    ['output.high > 0', ['FX137 12:9']],
    ["'yes'", ['FX137 12:9']],
    ["inputs.nme == 'web'", ['FX132 12:9']],
    ["nodes.scn.outcome == 'skipped'", ['FX133 12:9']],
    ["nodes['node-3'].outcome == 'skipped'", ['FX133 12:9']],
    ['1 < 2', ['FX138 12:9']],
    ["false && inputs.name == 'web'", ['FX138 12:9']],
  ])('%s', (text, expected) => {
    expect(condition(text)).toEqual(expected);
  });

  test('on every node would let a task complete with nothing done', () => {
    expect(lint('inputs: { a: 1 }\nnodes:\n  - { recipe: { command: x }, if: inputs.a == 1 }\n')).toEqual([
      'FX139 5:35',
    ]);
  });
});

describe('outputs', () => {
  test('that are declared and never used, but for those of the last node, and inputs', () => {
    const node = (id: string): string =>
      `  - { id: ${id}, recipe: { command: x }, outputs: { output_file: o.json } }\n`;
    expect(lint(`inputs: { a: 1 }\nnodes:\n${node('a')}${node('b')}`)).toEqual(['FX141 3:14', 'FX140 5:47']);
  });

  test('of a gate are refused', () => {
    const gate = '  - { kind: gate, recipe: { command: x }, outputs: { json_schema: { type: object } } }\n';
    expect(lint(`nodes:\n${gate}`)).toEqual(['FX117 4:52']);
  });

  test.each(['/etc/passwd', '../x', 'a/../../x', '.git/config', 'a//b', ''])('in %j are refused', (path) => {
    expect(lint(`recipe: { command: x }\noutputs: { output_file: "${path}" }\n`)).toEqual(['FX013 4:25']);
  });

  test('that say nothing are refused', () => {
    expect(lint('recipe: { command: x }\noutputs: {}\n')).toEqual(['FX013 4:10']);
  });

  test('must have a schema that can be used', () => {
    expect(lint('recipe: { command: x }\noutputs: { json_schema: { type: txt } }\n')).toEqual(['FX116 4:25']);
    expect(lint('recipe: { command: x }\noutputs: { json_schema: {} }\n')).toEqual(['FX108 4:25']);
  });
});

describe('a primitive that changes something', () => {
  test.each([
    ['as a check', 'recipe: { command: x }\npostcondition: { primitive: counter, with: { to: 1 } }\n', ['FX142 4:29']],
    ['as a gate', 'nodes:\n  - { kind: gate, recipe: { primitive: counter, with: { to: 1 } } }\n', ['FX142 4:40']],
    ['that only looks, as a gate', 'nodes:\n  - { kind: gate, recipe: { primitive: git-clean } }\n', []],
  ])('%s', (_, text, expected) => {
    expect(lint(text)).toEqual(expected);
  });
});
