import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

/** One Jest run. End-to-end specs start whole installations, so they run one file after the other. */
interface Pass {
  readonly patterns: readonly string[];
  readonly flags: readonly string[];
  /** Whether the specs need Postgres and NATS; see test/global-setup.mjs. */
  readonly servers: boolean;
}

const SPEC = '\\.spec\\.ts$';
const passes: Readonly<Record<'unit' | 'sim' | 'int' | 'e2e', Pass>> = {
  unit: {
    patterns: [SPEC],
    flags: ['--maxWorkers=2', '--testPathIgnorePatterns', '\\.(int|e2e|sim)\\.spec\\.ts$', '/dist/'],
    servers: false,
  },
  // Each of them keeps two processes busy.
  sim: { patterns: ['\\.sim\\.spec\\.ts$'], flags: ['--runInBand'], servers: false },
  int: { patterns: ['\\.int\\.spec\\.ts$'], flags: ['--maxWorkers=2'], servers: true },
  e2e: { patterns: ['\\.e2e\\.spec\\.ts$'], flags: ['--runInBand'], servers: true },
};

const resultSchema = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  numTodoTests: z.number(),
  numRuntimeErrorTestSuites: z.number(),
  testResults: z.array(z.object({ name: z.string(), status: z.string() })),
});
type Result = z.infer<typeof resultSchema>;

interface Count {
  readonly passed: number;
  readonly failed: number;
}

/** A suite that does not even load and a test that is skipped count as failed: nobody should take them for passed. */
const count = (result: Result): Count => {
  const notRun = result.numPendingTests + result.numTodoTests + result.numRuntimeErrorTestSuites;
  return { passed: result.numPassedTests, failed: result.numFailedTests + notRun };
};

const jest = (
  pass: Pass,
  folder: string,
  specs: readonly string[],
): Count & { readonly failedSpecs: readonly string[] } => {
  const report = join(folder, 'report.json');
  const node = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];
  const flags = ['--passWithNoTests', '--json', `--outputFile=${report}`, ...pass.flags];
  const { status } = spawnSync('node', [...node, ...flags, '--', ...specs], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: pass.servers ? process.env : { ...process.env, FIXPOINT_TEST_SERVERS: 'none' },
  });
  const result = resultSchema.parse(JSON.parse(readFileSync(report, 'utf8')));
  const counted = count(result);
  const failedSpecs = result.testResults.filter((spec) => spec.status === 'failed').map(({ name }) => name);
  return { ...counted, failed: status === 0 ? counted.failed : Math.max(1, counted.failed), failedSpecs };
};

/** More than this many failing specs are no accident of a busy machine. */
const MOST_ALONE = 3;

/**
 * Specs with real servers share two cores with them. Where few fail they are run once more, one after the other and with
 * the machine to themselves, and what they say then counts; said aloud, so that nobody takes a shaky spec for a firm one.
 */
const run = (pass: Pass, folder: string): Count => {
  const first = jest(pass, folder, pass.patterns);
  const { failedSpecs } = first;
  if (!pass.servers || failedSpecs.length === 0 || failedSpecs.length > MOST_ALONE) return first;
  console.log(`failed once, run again alone: ${failedSpecs.join(', ')}`);
  const alone = jest({ ...pass, flags: ['--runInBand', '--runTestsByPath'] }, folder, failedSpecs);
  console.log(`alone: ${alone.passed} passed, ${alone.failed} failed`);
  return alone.failed > 0 ? first : { passed: first.passed + first.failed, failed: 0 };
};

const isKind = (kind: string): kind is keyof typeof passes => kind in passes;

/** `node tools/run-tests.ts [unit|sim|int|e2e]`: all kinds by default; the last line is `N passed, N failed`. */
const main = (kinds: readonly string[]): number => {
  const folder = mkdtempSync(join(tmpdir(), 'fixpoint-tests-'));
  const counts = kinds.filter(isKind).map((kind) => run(passes[kind], folder));
  rmSync(folder, { recursive: true });

  const passed = counts.reduce((sum, each) => sum + each.passed, 0);
  const failed = counts.reduce((sum, each) => sum + each.failed, 0);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0 ? 0 : 1;
};

const given = process.argv.slice(2);
process.exitCode = main(given.length === 0 ? Object.keys(passes) : given);
