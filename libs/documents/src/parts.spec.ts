import { describe, expect, test } from '@jest/globals';
import { admitTask } from './admit-task.ts';
import type { LintOptions } from './lint-task.ts';
import { printTask } from './print-task.ts';

const options: LintOptions = {
  knownPrimitives: { names: ['git-clean'], problems: () => [] },
  knownModels: ['default'],
  knownAgents: null,
  knownModes: ['build'],
  relativeGitUrl: 'refused',
};

const task = (parts: string, head = ''): string =>
  `kind: task/v1\nname: t\ngoal: All is done\n${head}recipe: { command: make }\nparts:\n${parts}`;

const API = `  - name: api
    goal: The API is done
    paths: [api/**]
    recipe: { command: make api }
    postcondition: { command: test -f api/done }
`;
const WEB = `  - name: web
    nodes:
      - id: pages
        recipe: { command: make web }
`;

const codes = (text: string): string[] =>
  admitTask(text, options).diagnostics.map(({ code, line }) => `${code} ${line}`);

describe('declared parts', () => {
  test('are what a unit may be cut into: each with defaults filled in like a task', () => {
    const admission = admitTask(task(API + WEB), options);
    expect(admission.diagnostics).toEqual([]);
    expect(admission.admitted && admission.spec.parts).toMatchObject([
      {
        name: 'api',
        goal: 'The API is done',
        paths: ['api/**'],
        parts: [],
        nodes: [{ id: 'main', policy: 'required' }],
      },
      { name: 'web', goal: 'web', paths: [], parts: [], nodes: [{ id: 'pages', goal: 'web' }] },
    ]);
  });

  test('change nothing of a task that declares none', () => {
    const admission = admitTask('kind: task/v1\nname: t\nrecipe: { command: make }\n', options);
    expect(admission.admitted && Object.keys(admission.spec)).not.toContain('parts');
  });

  test('may be cut themselves', () => {
    const inner = (API + WEB).replaceAll(/^/gm, '    ').trimEnd();
    const admission = admitTask(task(`${API}    parts:\n${inner}\n${WEB}`), options);
    expect(admission.diagnostics).toEqual([]);
    expect(admission.admitted && admission.spec.parts?.[0]?.parts).toMatchObject([{ name: 'api' }, { name: 'web' }]);
  });

  test.each([
    ['one part is no cut', API, ['FX013 6']],
    ['a name twice', API + API.replace('api/**', 'other/**'), ['FX123 11']],
    [
      'a check that proves nothing',
      API +
        WEB.replace('    nodes', '    nodes').replace(
          'make web }',
          'make web }\n        postcondition: { command: "true" }',
        ),
      ['FX108 15'],
    ],
    ['an unknown primitive', API + WEB.replace('command: make web', 'primitive: nothing'), ['FX109 14']],
    ['a path that another part has', `${API}${WEB}    paths: [api/v2]\n`, ['FX128 15']],
    ['an absolute path', API.replace('api/**', '/etc/passwd') + WEB, ['FX127 8']],
    ['a path that leads out', API.replace('api/**', 'api/../../x') + WEB, ['FX127 8']],
    ['a path that is written in another way', API.replace('api/**', './api') + WEB, ['FX127 8']],
    ['a key that is none', `${API}    color: red\n${WEB}`, ['FX011 11']],
  ])('are refused like a task for %s', (_, parts, expected) => {
    expect(codes(task(parts))).toEqual(expected);
  });

  test('know the inputs of the task, and nothing of its nodes', () => {
    const uses = `${API}    env: { V: "\${{ inputs.version }}" }\n${WEB}`;
    expect(codes(task(uses, 'inputs: { version: "2" }\n'))).toEqual([]);
    const other = `${API}    env: { V: "\${{ nodes.main.output.x }}" }\n${WEB}`;
    expect(codes(task(other))).toEqual(['FX133 11']);
  });

  test('nested deeper than any unit is split are refused', () => {
    const nested = (level: number, indent: string): string => {
      const part = (name: string, more: string) =>
        `${indent}- name: ${name}\n${indent}  recipe: { command: x }\n${more}`;
      const inner = level === 1 ? '' : `${indent}  parts:\n${nested(level - 1, `${indent}    `)}`;
      return part('a', inner) + part('b', '');
    };
    expect(codes(task(nested(5, '  ')))).toEqual([]);
    expect(codes(task(nested(6, '  '))).map((found) => found.slice(0, 5))).toEqual(['FX124', 'FX124']);
  });

  test('survive printing and parsing', () => {
    const text = task(API + WEB);
    const admission = admitTask(text, options);
    const document = {
      kind: 'task/v1',
      name: 't',
      recipe: { command: 'x' },
      parts: [
        { name: 'api', paths: ['a'], recipe: { command: 'y' } },
        { name: 'web', nodes: [{ recipe: { command: 'z' } }] },
      ],
    } as const;
    expect(admission.admitted).toBe(true);
    expect(printTask(structuredClone(document) as never)).toContain(
      'parts:\n  - name: api\n    recipe:\n      command: y\n    paths:\n      - a\n',
    );
  });
});
