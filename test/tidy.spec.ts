import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { caseProblems, openCases } from '../tools/case-ids.ts';
import { undeclaredReferences } from '../tools/project-references.ts';
import { repositoryTexts, scenarioPages } from '../tools/repository-texts.ts';
import { scenariosPage } from '../tools/scenarios-page.ts';
import { codeOnly, type SourceFile, tidyRules } from '../tools/tidy-rules.ts';
import { wantedCases } from '../tools/wanted-cases.ts';

const read = (path: string): SourceFile => ({ path, text: readFileSync(path, 'utf8') });
const tree = repositoryTexts();
const pages = scenarioPages();

describe('the tree', () => {
  test.each(tidyRules.map((rule) => [rule.name, rule] as const))('%s', (_name, rule) => {
    expect(rule.problems(tree)).toEqual([]);
  });

  test('every case that a test names is explained, and the other way round', () => {
    expect(caseProblems(tree, pages)).toEqual([]);
  });

  test('every case that this release answers for is tested, or a page says why not', () => {
    expect(openCases(wantedCases, tree, pages)).toEqual([]);
  });

  test('docs/scenarios.md is current', () => {
    expect(readFileSync('docs/scenarios.md', 'utf8')).toBe(scenariosPage(tree, pages));
  });

  test('decisions are numbered without gaps, each once, in the name and in the title', () => {
    const decisions = readdirSync('docs/adr').sort();
    const titles = decisions.map((page) => /^# (\d{4}) /.exec(readFileSync(`docs/adr/${page}`, 'utf8'))?.[1]);
    const numbers = decisions.map((_, index) => String(index + 1).padStart(4, '0'));
    expect(decisions.map((page) => page.slice(0, 4))).toEqual(numbers);
    expect(titles).toEqual(numbers);
  });

  test('every package is built and refers to what it depends on', () => {
    expect(undeclaredReferences(tree, read('tsconfig.build.json'))).toEqual([]);
  });
});

describe('a planted violation', () => {
  const pure = 'services/x/src/domain/thing.ts';
  const spec = { path: 'services/x/src/domain/thing.spec.ts', text: '' };
  const migration = 'libs/x/migrations';

  test.each<[string, readonly SourceFile[]]>([
    ['folders are named for a concept', [{ path: 'libs/x/src/utils/a.ts', text: '' }]],
    ['files are named for their main export', [{ path: 'libs/x/src/index.ts', text: '' }]],
    ['every pure file has a spec in its folder', [{ path: pure, text: 'export const a = 1;' }]],
    [
      'every adapter passes the contract of its port',
      [
        { path: 'libs/x/src/bus.ts', text: '' },
        { path: 'libs/x/src/bus.contract.ts', text: '' },
        { path: 'libs/x/src/memory-bus.ts', text: '' },
        { path: 'libs/x/src/memory-bus.spec.ts', text: '' },
      ],
    ],
    [
      'migrations are numbered without gaps and have a dumped schema',
      [
        { path: `${migration}/0002_b.sql`, text: '' },
        { path: 'libs/x/schema.sql', text: '' },
      ],
    ],
    [
      'a relative import stays in its package',
      [{ path: 'libs/x/src/a.ts', text: "import { b } from '../../y/src/b.ts';" }],
    ],
    [
      'every release has its golden log',
      [
        { path: 'package.json', text: '{"version":"0.2.0"}' },
        { path: 'test/golden/0.2.0.jsonl', text: '' },
      ],
    ],
    ['names say what a thing is', [{ path: 'libs/x/src/a.ts', text: 'export class TaskManager {}' }]],
    ['decisions read no clock and draw no chance', [{ path: pure, text: 'const now = Date.now();' }, spec]],
    ['decisions do not wait', [{ path: pure, text: 'const a = async () => 1;' }, spec]],
    ['decorators map routes and nothing else', [{ path: 'libs/x/src/a.ts', text: '@Injectable()\nclass A {}' }]],
    ['rules are not switched off in place', [{ path: 'libs/x/src/a.spec.ts', text: "jest.mock('pg');" }]],
  ])('breaks: %s', (name, files) => {
    const broken = tidyRules.filter((rule) => rule.problems(files).length > 0).map((rule) => rule.name);
    expect(broken).toEqual([name]);
  });

  test('is planted for every rule', () => {
    const planted = readFileSync('test/tidy.spec.ts', 'utf8');
    expect(tidyRules.filter((rule) => !planted.includes(`'${rule.name}'`))).toEqual([]);
  });

  test('in the names of cases is found', () => {
    const spec = {
      path: 'libs/x/src/a.spec.ts',
      text: "test('S-T112 halts', () => {});\n test.each([\n  ['X07', 1]\n])('%s', f);\ntest(\"P03: it's so\", f);\ntest.each<[A<B>]>([[f(g())]])('X07: %s', f);",
    };
    const page = {
      path: 'docs/scenarios.d/x.md',
      text: '- `S-T112`, `A4`: halts.\n- `N1`:\n- `P03` (cannot occur): so\n- `N2` (not yet): it.\n',
    };
    expect(caseProblems([spec], [page])).toEqual([
      'X07: libs/x/src/a.spec.ts names it and no page of docs/scenarios.d explains it',
      'A4: docs/scenarios.d explains it and no test names it',
      'P03: cannot occur, says docs/scenarios.d, but libs/x/src/a.spec.ts names it',
    ]);
    expect(openCases(['S-T112', 'P03', 'N1', 'N2', 'A4'], [spec], [page])).toEqual(['N1', 'A4']);
    expect(scenariosPage([spec], [page])).toContain(
      '- `S-T112`: Halts. Shown by [a.spec.ts](../libs/x/src/a.spec.ts).\n',
    );
    expect(scenariosPage([spec], [page])).toContain('- `N2` (not yet): It.\n');
  });

  test('in prose is none', () => {
    expect(codeOnly("const a = 'Date.now()'; // Date.now()\n/* Date.now() */ b")).not.toContain('Date.now');
  });
});
