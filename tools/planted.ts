/** A violation that a check must find: the file it is planted in and what the check's output must say. */
export interface Planted {
  readonly check: 'format' | 'lint' | 'types' | 'imports' | 'unused' | 'tidy';
  readonly path: string;
  readonly text: string;
  readonly expected: string;
}

const lint = (rule: string, text: string, path?: string): Planted => ({
  check: 'lint',
  path: path ?? `libs/decider/src/planted-${rule.toLowerCase()}.ts`,
  text,
  expected: `/${rule} `,
});

const edge = (rule: string, path: string, imported: string): Planted => ({
  check: 'imports',
  path,
  text: `import '${imported}';\n`,
  expected: `${path} → `,
  ...(rule === '' ? {} : { expected: `: ${rule}.` }),
});

const service = 'services/executor/src';

/** One violation for each promise of `npm run check`. */
export const planted: readonly Planted[] = [
  {
    check: 'format',
    path: 'libs/decider/src/planted-format.ts',
    text: 'export  const a = "b"\n',
    expected: 'planted-format.ts',
  },
  lint('noExplicitAny', 'export const a = (b: any): unknown => b;\n'),
  lint('noNonNullAssertion', 'export const a = (b: string | null): string => b!;\n'),
  lint('noFloatingPromises', 'const a = async (): Promise<void> => {};\nexport const b = () => {\n  a();\n};\n'),
  lint('noProcessEnv', 'export const a = process.env;\n'),
  lint(
    'noFocusedTests',
    "import { test } from '@jest/globals';\ntest.only('a', () => {});\n",
    'libs/decider/src/planted-a.spec.ts',
  ),
  lint(
    'noSkippedTests',
    "import { test } from '@jest/globals';\ntest.skip('a', () => {});\n",
    'libs/decider/src/planted-b.spec.ts',
  ),
  lint('noExcessiveLinesPerFunction', `export const a = (): void => {\n${'  console.log(1);\n'.repeat(41)}};\n`),
  lint('noExcessiveLinesPerFile', `${'export {};\n'.repeat(301)}`),
  lint('useImportType', "import { Refused } from './refused.ts';\nexport const a = (b: Refused): string => b.code;\n"),
  lint(
    'noExcessiveCognitiveComplexity',
    `export const a = (b: number): number => {\n${'  if (b > 1 && b < 9) return 2;\n'.repeat(6)}  return 1;\n};\n`,
  ),
  {
    check: 'types',
    path: 'libs/decider/src/planted-types.spec.ts',
    text: "export const a: number = 'b';\n",
    expected: 'planted-types.spec.ts(1,14): error TS2322',
  },
  {
    check: 'types',
    path: 'libs/decider/extra/unseen.ts',
    text: 'export {};\n',
    expected: 'libs/decider/extra/unseen.ts: not seen',
  },
  edge('no-cycles', 'libs/messaging/src/planted-cycle-b.ts', './planted-cycle-a.ts'),
  {
    check: 'imports',
    path: 'libs/messaging/src/planted-cycle-a.ts',
    text: "import type * as b from './planted-cycle-b.ts';\nexport type A = typeof b;\n",
    expected: 'planted-cycle-a.ts → libs/messaging/src/planted-cycle-b.ts',
  },
  edge('resolvable', 'libs/messaging/src/planted-nowhere.ts', './nowhere.ts'),
  edge('services-are-strangers', `${service}/planted-stranger.ts`, '../../validator/src/planted.module.ts'),
  edge('services-know-no-starter', `${service}/planted-starter.ts`, '../../../cli/src/planted.ts'),
  edge(
    'libs-know-no-service',
    'libs/messaging/src/planted-service.ts',
    '../../../services/validator/src/planted.module.ts',
  ),
  edge('contracts-and-decider-are-the-ground', 'libs/decider/src/planted-ground.ts', '@fixpoint/messaging/bus'),
  edge('domain-is-pure', `${service}/domain/planted-impure.ts`, 'node:fs'),
  edge('domain-takes-only-types-of-documents', `${service}/domain/planted-documents.ts`, '@fixpoint/documents/planted'),
  edge(
    'domain-stays-in-its-service',
    `${service}/domain/planted-foreign.ts`,
    '../../../validator/src/domain/planted.ts',
  ),
  edge('nest-stays-at-the-edge', 'libs/messaging/src/planted-nest.ts', '@nestjs/common'),
  edge('no-test-code-in-production', 'libs/messaging/src/planted-tested.ts', './planted.spec.ts'),
  edge('no-test-packages-in-production', 'libs/messaging/src/planted-jest.ts', '@jest/globals'),
  edge('declared-dependencies', 'libs/messaging/src/planted-undeclared.ts', 'kysely'),
  {
    check: 'unused',
    path: 'libs/decider/src/planted-dead.ts',
    text: 'export {};\n',
    expected: 'planted-dead.ts: dead file',
  },
  {
    check: 'unused',
    path: 'libs/decider/src/planted-export.ts',
    text: 'export const planted = 1;\n',
    expected: 'planted ',
  },
  { check: 'tidy', path: 'libs/decider/src/utils/planted.ts', text: 'export {};\n', expected: 'utils/planted.ts' },
  {
    check: 'tidy',
    path: 'libs/decider/src/planted-case.spec.ts',
    text: "import { test } from '@jest/globals';\ntest('X98 happens', () => {});\n",
    expected: 'X98',
  },
  { check: 'tidy', path: 'docs/scenarios.d/planted.md', text: '- `X99`: nobody tests this.\n', expected: 'X99' },
  {
    check: 'tidy',
    path: 'docs/scenarios.d/planted-excuse.md',
    text: '- `A6` (cannot occur): it is tested.\n',
    expected: 'A6: cannot occur, says',
  },
];

/** Files that the planted imports lead to. */
export const targets: Readonly<Record<string, string>> = {
  'services/validator/src/planted.module.ts': 'export {};\n',
  'services/validator/src/domain/planted.ts': 'export {};\n',
  'libs/messaging/src/planted.spec.ts': 'export {};\n',
  'libs/documents/src/planted.ts': 'export {};\n',
  'cli/src/planted.ts': 'export {};\n',
};

/** A tool made blind by its own configuration: the check must notice that it looks at too little. */
export interface Blinded {
  readonly check: Planted['check'];
  readonly path: string;
  readonly from: string;
  readonly to: string;
  readonly expected: string;
}

export const blinded: readonly Blinded[] = [
  { check: 'format', path: 'biome.json', from: '"**",', to: '"tools/**",', expected: 'Biome looked at' },
  { check: 'lint', path: 'biome.json', from: '"**",', to: '"tools/**",', expected: 'Biome looked at' },
  {
    check: 'types',
    path: 'tsconfig.json',
    from: '"libs/*/src",',
    to: '',
    expected: 'libs/decider/src/decider.spec.ts: not seen',
  },
  {
    check: 'imports',
    path: '.dependency-cruiser.mjs',
    from: "exclude: { path: '",
    to: "exclude: { path: '^libs/|",
    expected: 'libs/decider/src/decider.ts: not seen by dependency-cruiser',
  },
  {
    check: 'unused',
    path: 'knip.json',
    from: '"exclude"',
    to: '"ignoreWorkspaces": ["libs/*"], "exclude"',
    expected: 'knip looked at',
  },
];
