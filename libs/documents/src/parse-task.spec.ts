import { taskSpecSchema } from '@fixpoint/contracts/documents/task';
import { describe, expect, test } from '@jest/globals';
import { type ParsedTask, parseTask } from './parse-task.ts';

const errorsOf = (text: string): string[] =>
  parseTask(text).diagnostics.map(({ code, line, column }) => `${code} ${line}:${column}`);

const node = (text: string): NonNullable<ParsedTask['spec']>['nodes'][number] | undefined =>
  parseTask(`kind: task/v1\nname: t\n${text}`).spec?.nodes[0];

const example = `kind: task/v1
name: commit-deps
project: web-shop
mode: build
labels: { team: web }
goal: Dependencies are updated and committed
workspace: { git: { url: ./repo, ref: main }, keep: [node_modules/.cache] }
nodes:
  - id: scan
    kind: gate
    recipe: { command: npm audit --audit-level=high }
  - id: commit
    kind: action
    goal: Commit the relevant changes, excluding caches
    recipe: { command: "git add -A -- . ':!__pycache__' && git commit -m 'deps'" }
    postcondition: { primitive: git-clean, with: { exclude: ['__pycache__', 'go/'] }, timeout: 90s }
    policy: recover
    recovery: { max_repair_attempts: 2, max_agent_attempts: 0, model: default, agent_tools: [] }
`;

describe('a task document', () => {
  test('I-T20 the quad of every node is read, with durations in milliseconds', () => {
    const { spec, diagnostics } = parseTask(example);
    expect(diagnostics).toEqual([]);
    expect(spec).toMatchObject({
      name: 'commit-deps',
      project: 'web-shop',
      mode: 'build',
      labels: { team: 'web' },
      priority: 0,
      workspace: { git: { url: './repo', ref: 'main' }, keep: ['node_modules/.cache'] },
    });
    expect(spec?.nodes[0]).toMatchObject({ id: 'scan', kind: 'gate', postcondition: null, policy: 'required' });
    expect(spec?.nodes[1]).toEqual({
      id: 'commit',
      kind: 'action',
      goal: 'Commit the relevant changes, excluding caches',
      recipe: { command: "git add -A -- . ':!__pycache__' && git commit -m 'deps'" },
      postcondition: {
        all: [{ primitive: 'git-clean', with: { exclude: ['__pycache__', 'go/'] }, timeout_ms: 90_000 }],
      },
      policy: 'recover',
      max_repair_attempts: 2,
      max_agent_attempts: 0,
      model: 'default',
      agent_tools: [],
      env: {},
      timeout_ms: 3_600_000,
    });
  });

  test('the same task in JSON is the same task', () => {
    const { document, spec } = parseTask(example);
    expect(parseTask(JSON.stringify(document, null, '\t')).spec).toEqual(spec);
  });

  test('what is parsed is what events may carry', () => {
    expect(taskSpecSchema.parse(parseTask(example).spec)).toEqual(parseTask(example).spec);
  });

  test('one node may stand at the top level and takes the goal of the task', () => {
    const { spec } = parseTask('kind: task/v1\nname: one\ngoal: It is done\nrecipe: { command: make }\n');
    expect(spec?.nodes).toHaveLength(1);
    expect(spec?.nodes[0]).toMatchObject({ id: 'main', goal: 'It is done', recipe: { command: 'make' } });
  });

  test('I-T21 a node without a quad has no postcondition and no rungs', () => {
    expect(node('recipe: { command: make }')).toMatchObject({
      postcondition: null,
      policy: 'required',
      max_repair_attempts: 0,
      max_agent_attempts: 0,
    });
  });
});

describe('defaults', () => {
  test('I-T14 a postcondition without a policy is required and bounded to 30 seconds', () => {
    expect(node('recipe: { command: make }\npostcondition: { command: test -f out }')).toMatchObject({
      policy: 'required',
      postcondition: { all: [{ command: 'test -f out', timeout_ms: 30_000 }] },
    });
  });

  test.each(['', 'recovery: { max_repair_attempts: 0, max_agent_attempts: 0 }'])(
    'recover without any bound means one repair (%s)',
    (recovery) => {
      expect(
        node(`recipe: { command: make }\npostcondition: { cel: 'true == true' }\npolicy: recover\n${recovery}`),
      ).toMatchObject({ max_repair_attempts: 1 });
    },
  );

  test.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['5m', 300_000],
    ['1h', 3_600_000],
  ])('the duration %s is %d ms', (text, ms) => {
    expect(node(`recipe: { command: make }\ntimeout: ${text}`)).toMatchObject({ timeout_ms: ms });
  });
});

describe('data between nodes', () => {
  const spec = (text: string): ParsedTask['spec'] => parseTask(`kind: task/v1\nname: t\n${text}`).spec;

  test('is absent from a task that has none', () => {
    const plain = spec('nodes:\n  - { recipe: { command: make } }\n');
    expect(plain).not.toHaveProperty('inputs');
    for (const key of ['if', 'output_file', 'templated']) expect(plain?.nodes[0]).not.toHaveProperty(key);
  });

  test('is read: inputs, conditions, where outputs are, and what they must look like', () => {
    const read = spec(`inputs: { a: [1], b: null }
goal: 'Of \${{ inputs.a.0 }} and \${{ inputs.b ?? "nothing" }}\${{ inputs.b ?? null }}'
nodes:
  - id: one
    if: inputs.a[0] == 1
    recipe: { command: make }
    postcondition: { command: test -f out }
    outputs: { output_file: out/x.json, json_schema: { type: object } }
  - goal: "\${{ nodes.one.output }}"
    recipe: { command: make }
  - recipe: { command: make }
`);
    expect(read?.inputs).toEqual({ a: [1], b: null });
    expect(read?.goal).toBe('Of 1 and nothing');
    expect(read?.nodes[0]).toMatchObject({
      if: 'inputs.a[0] == 1',
      output_file: 'out/x.json',
      templated: true,
      postcondition: {
        all: [
          { command: 'test -f out', timeout_ms: 30_000 },
          { json_schema: { type: 'object' }, timeout_ms: 30_000 },
        ],
      },
    });
    expect(read?.nodes[1]).toMatchObject({ goal: '${{ nodes.one.output }}', templated: true });
  });

  test('a goal that a node has from its task is filled in when the node is run', () => {
    expect(spec('inputs: { a: 1 }\ngoal: "${{ inputs.a }}"\nrecipe: { command: x }\n')).toMatchObject({
      goal: '1',
      nodes: [{ goal: '${{ inputs.a }}', templated: true }],
    });
  });

  test('a compute node repairs itself once, unless it says otherwise', () => {
    const compute = (rest: string) =>
      spec(`nodes:\n  - { kind: compute, recipe: { command: x }, postcondition: { cel: output == 1 }${rest} }\n`)
        ?.nodes[0];
    expect(compute('')).toMatchObject({ policy: 'recover', max_repair_attempts: 1 });
    expect(compute(', recovery: { max_repair_attempts: 3 }')).toMatchObject({
      policy: 'recover',
      max_repair_attempts: 3,
    });
    expect(compute(', policy: required')).toMatchObject({ policy: 'required', max_repair_attempts: 0 });
    expect(compute(', policy: best_effort')).toMatchObject({ policy: 'best_effort', max_repair_attempts: 0 });
  });
});

describe('what is not in this version is said to be so', () => {
  const later = (node: string): string[] => errorsOf(`kind: task/v1\nname: t\n${node}\n`);

  test.each([
    ['recipe: { http: { url: x } }', ['FX190 3:11']],
    ['recipe: { agent: {} }', ['FX190 3:11']],
    ['recipe: { command: x }\npostcondition: { http: { url: x } }', ['FX190 4:18']],
    ['recipe: { command: x }\npostcondition: { all: [{ command: x }, { http: {} }] }', ['FX190 4:42']],
    ['nodes:\n  - kind: agent\n    recipe: { command: x }', ['FX190 4:11']],
  ])('%j', (node, expected) => {
    expect(later(node)).toEqual(expected);
  });

  test.each(['', 'policy: recover\npostcondition: { command: test -f x }\n'])(
    'I-T42 a recipe that calls a connector, with recovery or without: %j',
    (quad) => {
      expect(later(`recipe: { http: { url: x } }\n${quad}`)).toEqual(['FX190 3:11']);
    },
  );
});

describe('what is wrong is said with its line and column', () => {
  test('I-T15 a policy that is none of the three', () => {
    expect(errorsOf('kind: task/v1\nname: t\nrecipe: { command: make }\npolicy: maybe\n')).toEqual(['FX103 4:9']);
  });

  test('I-T22 an unknown property of recovery, with the word that was meant', () => {
    const { diagnostics } = parseTask(
      'kind: task/v1\nname: t\nrecipe: { command: make }\nrecovery:\n  max_repair_attemps: 2\n',
    );
    expect(diagnostics).toMatchObject([{ code: 'FX011', line: 5, column: 3 }]);
    expect(diagnostics[0]?.hint).toContain('max_repair_attempts');
  });

  test.each(['override', 'approve', 'decisions', 'lifted', 'verdicts', 'skip_validators'])(
    'S-T115 a task that would lift a verdict: there is no key `%s`, in the task or in a node',
    (key) => {
      expect(errorsOf(`kind: task/v1\nname: t\n${key}: [lint]\nrecipe: { command: make }\n`)).toEqual(['FX011 3:1']);
      expect(errorsOf(`kind: task/v1\nname: t\nnodes:\n  - ${key}: [lint]\n    recipe: { command: make }\n`)).toEqual([
        'FX011 4:5',
      ]);
    },
  );

  test('a task without steps misses its recipe', () => {
    expect(parseTask('kind: task/v1\nname: t\n').diagnostics).toMatchObject([{ message: 'Missing key `recipe`.' }]);
  });

  test.each([
    ['no kind', 'name: t\nrecipe: { command: make }\n', ['FX010 1:1']],
    ['another kind', 'kind: task/v9\nname: t\nrecipe: { command: make }\n', ['FX010 1:7']],
    ['a list', '- 1\n', ['FX010 1:1']],
    ['a command where a recipe belongs', 'kind: task/v1\nname: t\ncommand: make\n', ['FX012 1:1', 'FX011 3:1']],
    ['no name', 'kind: task/v1\nrecipe: { command: make }\n', ['FX012 1:1']],
    ['a bad project', 'kind: task/v1\nname: t\nproject: Web\nrecipe: { command: make }\n', ['FX015 3:10']],
    ['a bad duration', 'kind: task/v1\nname: t\nrecipe: { command: make }\ntimeout: 5 min\n', ['FX014 4:10']],
    ['a zero duration', 'kind: task/v1\nname: t\nrecipe: { command: make }\ntimeout: 0s\n', ['FX014 4:10']],
    ['a wrong type', 'kind: task/v1\nname: t\nrecipe: { command: 5 }\n', ['FX013 3:20']],
    ['a key twice', 'kind: task/v1\nname: t\nname: u\nrecipe: { command: make }\n', ['FX002 3:1']],
    ['broken YAML', 'kind: task/v1\nname: [t\nrecipe: { command: make }\n', ['FX001 3:1']],
    ['broken JSON', '{"kind": "task/v1", "name": }', ['FX012 1:1', 'FX013 1:29']],
    ['nothing', '', ['FX007 1:1']],
    ['only a comment', '# nothing\n', ['FX007 1:1']],
    ['two documents', 'a: 1\n---\nb: 2\n', ['FX007 1:1']],
    ['a tag', 'kind: task/v1\nname: !env X\nrecipe: { command: make }\n', ['FX008 2:7']],
    ['an integer beyond 2^53', 'kind: task/v1\nname: t\npriority: 9007199254740993\n', ['FX004 3:11']],
    ['an integer written as a float', 'kind: task/v1\nname: t\npriority: 1e300\n', ['FX004 3:11']],
    ['an infinite number', 'kind: task/v1\nname: t\npriority: .inf\n', ['FX004 3:11']],
  ])('%s', (_, text, expected) => {
    expect(errorsOf(text)).toEqual(expected);
  });
});
