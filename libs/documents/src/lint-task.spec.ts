import { describe, expect, test } from '@jest/globals';
import { admitTask } from './admit-task.ts';
import { isRelativeGitUrl, type LintOptions } from './lint-task.ts';

const options: LintOptions = {
  knownPrimitives: {
    names: ['commit', 'git-clean', 'counter', 'counter-at'],
    problems: (name, parameters) =>
      name === 'counter' && JSON.stringify(parameters) === '{}' ? ['with.to: is missing'] : [],
  },
  knownModels: ['default'],
  knownAgents: null,
  knownModes: ['build'],
  relativeGitUrl: 'refused',
};

const HEAD = 'kind: task/v1\nname: t\n';

/** Codes with places, of a task with one node at the top level; the node starts in line 3. */
const lint = (node: string, changed: Partial<LintOptions> = {}): string[] =>
  admitTask(HEAD + node, { ...options, ...changed }).diagnostics.map(
    ({ code, line, column }) => `${code} ${line}:${column}`,
  );

const CHECKED = 'recipe: { command: make }\npostcondition: { command: test -f out }\n';

describe('a node that is all right', () => {
  test('I-T19 without a quad nothing is said', () => {
    expect(lint('recipe: { command: make }\n')).toEqual([]);
  });

  test('with the whole quad nothing is said', () => {
    expect(lint(`${CHECKED}policy: recover\nrecovery: { max_repair_attempts: 2, model: default }\n`)).toEqual([]);
  });

  test('a recipe that is its own check is all right as long as nothing repairs it', () => {
    expect(lint('recipe: { command: npm test }\npostcondition: { command: npm test }\n')).toEqual([]);
  });
});

describe('recovery', () => {
  test.each(['policy: recover\n', 'recovery: { max_repair_attempts: 1 }\n', 'recovery: { model: default }\n'])(
    'I-T16 without a postcondition is an error (%j)',
    (recovery) => {
      expect(lint(`recipe: { command: make }\n${recovery}`)[0]).toMatch(/^FX104 4:/);
    },
  );

  test.each(['npm test', 'npm test # check', "sh -c 'npm test'", 'npm   "test"', 'timeout 60 npm test', '(npm test)'])(
    'I-T17 X19 of a recipe that is its own check is an error, also behind a comment or a wrapper (%s)',
    (command) => {
      const node = `recipe: { command: npm test }\npostcondition:\n  command: ${JSON.stringify(command)}\npolicy: recover\n`;
      expect(lint(node)).toEqual(['FX105 6:9']);
    },
  );

  test('I-T17 of a primitive that is its own check is an error', () => {
    const node = 'recipe: { primitive: counter, with: { b: 1, a: 2 } }\n';
    expect(lint(`${node}postcondition: { primitive: counter, with: { a: 2, b: 1 } }\npolicy: recover\n`)).toEqual([
      'FX105 5:9',
    ]);
  });

  test('I-T17 of a primitive with other arguments is all right', () => {
    const node = 'recipe: { primitive: counter, with: { a: 1 } }\n';
    expect(lint(`${node}postcondition: { primitive: counter, with: { a: 2 } }\npolicy: recover\n`)).toEqual([]);
  });

  test('I-T17 of another command is all right', () => {
    expect(lint('recipe: { command: npm test }\npostcondition: { command: npm run test }\npolicy: recover\n')).toEqual(
      [],
    );
  });

  test.each(['required', 'best_effort'])('bounds under policy %s are a warning and stop nothing', (policy) => {
    const text = `${HEAD}${CHECKED}policy: ${policy}\nrecovery:\n  max_repair_attempts: 2\n`;
    const admission = admitTask(text, options);
    expect(admission).toMatchObject({ admitted: true, diagnostics: [{ code: 'FX106', severity: 'warning', line: 7 }] });
  });
});

describe('a gate', () => {
  const gate = (rest: string): string[] =>
    admitTask(`${HEAD}nodes:\n  - id: scan\n    kind: gate\n${rest}`, options).diagnostics.map(
      ({ code, line }) => `${code} ${line}`,
    );

  test('with a check and nothing else is all right', () => {
    expect(gate('    recipe: { command: npm audit }\n')).toEqual([]);
  });

  test.each([
    ['recovery', '    policy: recover\n', ['FX105 7']],
    ['bounds of recovery', '    recovery: { max_repair_attempts: 1 }\n', ['FX105 7']],
    ['another policy', '    policy: best_effort\n', ['FX118 7']],
    ['a postcondition', '    postcondition: { command: test -f out }\n', ['FX117 7']],
  ])('refuses %s', (_, line, expected) => {
    expect(gate(`    recipe: { command: npm audit }\n${line}`)).toEqual(expected);
  });

  test('X19 that always says yes is no gate', () => {
    expect(gate('    recipe: { command: exit 0 }\n')).toEqual(['FX108 6']);
  });
});

describe('a check that proves nothing', () => {
  test.each([
    'command: "true"',
    'command: exit 0',
    'command: ":"',
    'command: "npm test || true"',
    'cel: "true"',
    'cel: "1 < 2 || output.x"',
    'cel: "1 > 2"',
    'json_schema: {}',
    'json_schema: { title: anything }',
  ])('X19 %s', (check) => {
    expect(lint(`recipe: { command: make }\npostcondition:\n  ${check}\n`)).toEqual([
      expect.stringMatching(/^FX108 5:/),
    ]);
  });

  test('X19 is found inside a list of checks, where it stands', () => {
    expect(
      lint('recipe: { command: make }\npostcondition:\n  all:\n    - command: test -f out\n    - command: "true"\n'),
    ).toEqual(['FX108 7:16']);
  });
});

describe('an agent', () => {
  const asked = (model: string) =>
    `${CHECKED}policy: recover\nrecovery: { max_agent_attempts: 1, agent_tools: [read_file], model: ${model} }\n`;

  test('is a model that can act as one, as far as the models are known', () => {
    const known = { knownModels: ['default', 'smith'], knownAgents: ['smith'] };
    expect(lint(asked('smith'), known)).toEqual([]);
    expect(lint(asked('default'), known)).toEqual(['FX150 6:33']);
    expect(lint(asked('smiht'), known)).toEqual(['FX110 6:69']);
    expect(lint(asked('smiht'), { knownModels: null, knownAgents: null })).toEqual([]);
  });
});

describe('a worker', () => {
  test('has no word on its own work', () => {
    expect(lint('recipe: { worker: builds }\npostcondition: { command: test -f out }\n')).toEqual([]);
    expect(lint('recipe: { worker: builds }\n')).toEqual(['FX151 3:9']);
    expect(lint('recipe: { worker: builds }\noutputs: { json_schema: { required: [n] } }\n')).toEqual([]);
    expect(lint('nodes:\n  - kind: gate\n    recipe: { worker: builds }\n')).toEqual(['FX151 5:13']);
  });

  test('is told of data that is there, and is not repaired', () => {
    const text =
      'recipe: { worker: builds, with: { ref: "${{ inputs.ref }}" } }\npostcondition: { command: test -f out }\n';
    expect(lint(text)).toEqual(['FX132 3:40']);
    expect(lint(`inputs: { ref: main }\n${text}`)).toEqual([]);
  });

  test('asks for a queue by its name', () => {
    expect(lint('recipe: { worker: Builds }\npostcondition: { command: test -f out }\n')).toEqual(['FX013 3:19']);
  });
});

describe('what does not exist or can not be used', () => {
  test.each([
    ['a primitive', 'recipe: { primitive: comit }\n', ['FX109 3:22']],
    ['a primitive in a check', 'recipe: { command: make }\npostcondition: { primitive: git-tidy }\n', ['FX109 4:29']],
    ['a model', `${CHECKED}policy: recover\nrecovery: { model: gpt }\n`, ['FX110 6:20']],
    [
      'a tool of an agent',
      `${CHECKED}policy: recover\nrecovery: { max_agent_attempts: 1, agent_tools: [read_file, shell] }\n`,
      ['FX129 6:61'],
    ],
    ['an agent without a tool', `${CHECKED}policy: recover\nrecovery: { max_agent_attempts: 1 }\n`, ['FX150 6:33']],
    ['a mode', 'mode: ship\nrecipe: { command: make }\n', ['FX120 3:7']],
    ['a priority that is never dispatched', 'priority: -6\nrecipe: { command: make }\n', ['FX111 3:11']],
    ['an empty command', 'recipe: { command: " " }\n', ['FX113 3:20']],
    ['an empty script', 'recipe: { script: "", language: node }\n', ['FX113 3:19']],
    ['a primitive with wrong parameters', 'recipe: { primitive: counter }\n', ['FX013 3:22']],
    ['a kept path outside', 'workspace: { keep: [dist, ../x] }\nrecipe: { command: make }\n', ['FX121 3:27']],
    ['an absolute kept path', 'workspace: { keep: [/tmp] }\nrecipe: { command: make }\n', ['FX121 3:21']],
    ['the repository as a kept path', 'workspace: { keep: [sub/.git/x] }\nrecipe: { command: make }\n', ['FX121 3:21']],
    ['a delivery without a repository', 'deliver: { branch: a }\nrecipe: { command: make }\n', ['FX125 3:10']],
    ['a branch that git would not take', 'deliver: { branch: "a..b" }\nrecipe: { command: make }\n', ['FX013 3:20']],
    ['a relative repository', 'workspace: { git: { url: ./x } }\nrecipe: { command: make }\n', ['FX114 3:26']],
    [
      'a CEL with an unknown variable',
      'recipe: { command: make }\npostcondition: { cel: outptu == 1 }\n',
      ['FX115 4:23'],
    ],
    ['a CEL that is no boolean', 'recipe: { command: make }\npostcondition: { cel: stdout }\n', ['FX115 4:23']],
    ['a bad JSON Schema', 'recipe: { command: make }\npostcondition: { json_schema: { type: txt } }\n', ['FX116 4:31']],
    [
      'a JSON Schema that refers to another document',
      'recipe: { command: make }\npostcondition: { json_schema: { $ref: "http://x/y" } }\n',
      ['FX116 4:31'],
    ],
  ])('%s', (_, node, expected) => {
    expect(lint(node)).toEqual(expected);
  });

  test('the name that was meant is in the hint', () => {
    expect(admitTask(`${HEAD}recipe: { primitive: comit }\n`, options).diagnostics[0]?.hint).toContain('commit');
  });

  test('a priority at the threshold is dispatched', () => {
    expect(lint('priority: -5\nrecipe: { command: make }\n')).toEqual([]);
  });

  test('a delivery to the branch that the task starts from is a warning', () => {
    const git = (ref: string) =>
      `${HEAD}workspace: { git: { url: /x, ref: ${ref} } }\ndeliver: { branch: main }\nrecipe: { command: make }\n`;
    for (const ref of ['main', 'refs/heads/main']) {
      const admission = admitTask(git(ref), options);
      expect(admission).toMatchObject({ admitted: true, diagnostics: [{ code: 'FX126', line: 4 }] });
    }
    expect(admitTask(git('HEAD'), options).diagnostics).toEqual([]);
  });

  test('a kept path that looks like a pattern is a warning, since a name may have such characters', () => {
    const text = `${HEAD}workspace: { keep: ["dist/*.js"] }\nrecipe: { command: make }\n`;
    expect(admitTask(text, options)).toMatchObject({ admitted: true, diagnostics: [{ code: 'FX122', column: 21 }] });
  });

  test('a shell text that will not parse is a warning, since a repair may correct it', () => {
    const admission = admitTask(`${HEAD}recipe: { command: "git add :(exclude)x" }\n`, options);
    expect(admission).toMatchObject({ admitted: true, diagnostics: [{ code: 'FX119', line: 3, column: 20 }] });
  });

  test('a relative repository is all right where there is a folder', () => {
    const node = 'workspace: { git: { url: ./x } }\nrecipe: { command: make }\n';
    expect(lint(node, { relativeGitUrl: 'allowed' })).toEqual([]);
  });

  test.each([
    ['./repo', true],
    ['repo', true],
    ['../a:b', true],
    ['/srv/repo', false],
    ['file:///srv/repo', false],
    ['https://host/repo.git', false],
    ['git@host:team/repo.git', false],
    ['host:repo', false],
  ])('the repository %s: relative is %s', (url, relative) => {
    expect(isRelativeGitUrl(url)).toBe(relative);
  });
});

describe('several nodes', () => {
  test('an id twice is found at the second one', () => {
    const nodes = 'nodes:\n  - { id: a, recipe: { command: x } }\n  - { id: a, recipe: { command: y } }\n';
    expect(lint(nodes)).toEqual(['FX107 5:11']);
  });

  test('a compute node needs a check of its output', () => {
    const node = (check: string): string =>
      `nodes:\n  - kind: compute\n    recipe: { command: x }\n    postcondition: { ${check} }\n`;
    expect(lint(node('command: test -f out'))).toEqual(['FX112 4:11']);
    expect(lint(node('cel: output.n == 1'))).toEqual([]);
  });
});
