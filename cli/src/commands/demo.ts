import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { fixpointClient } from '@fixpoint/client/client';
import { examplePath } from '@fixpoint/examples/example-path';
import { type Example, examples } from '@fixpoint/examples/examples';
import type { Installation } from '@fixpoint/local/installation';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { demoRecord, demoReport } from '../demo-report.ts';
import { EXIT, Exit } from '../exit-codes.ts';
import { type Interruption, interruption } from '../interruption.ts';
import { runExamples } from '../run-examples.ts';
import { readTree } from './tree.ts';

interface DemoOptions {
  readonly json?: boolean;
  readonly processes?: boolean;
  readonly only?: string;
  readonly nats?: string;
  readonly keep?: boolean;
}

/** `fixpoint demo` */
export const addDemo = (program: Command, context: Context): void => {
  program
    .command('demo')
    .description('run every example against an installation of its own, and leave nothing behind')
    .option('--json', 'one line of JSON for each example')
    .option('--processes', 'five processes instead of one (needs NATS)')
    .option('--only <name>', 'only this example, or those below this name')
    .option('--nats <url>', 'a NATS server with JetStream that exists already, or none')
    .option('--keep', 'keep its folder: repositories, database, logs')
    .action(async (options: DemoOptions) => {
      const interrupted = interruption();
      try {
        context.exitCode = await demo(options, context, interrupted);
      } finally {
        interrupted.release();
      }
    });
};

const DRAIN_MS = 5_000;
/** Runs at a time. */
const CONCURRENCY = 4;

const demo = async (options: DemoOptions, context: Context, interrupted: Interruption): Promise<number> => {
  const chosen = choose(options.only);
  // The services take a second to load, and no other command needs them.
  const [{ startLocal }, { modelEnvironment }] = await Promise.all([
    import('../start-local.ts'),
    import('@fixpoint/local/model-environment'),
  ]);
  const modelEnv = modelEnvironment(context.env);
  const folder = await mkdtemp(join(tmpdir(), 'fixpoint-demo-'));
  try {
    const installation = await startLocal({ ...localOptions(options, folder, context), modelEnv }, context);
    try {
      return await demonstrate(chosen, { installation, folder, options, context, interrupted });
    } finally {
      await installation.close();
    }
  } finally {
    if (options.keep === true) context.terminal.note(`kept in ${folder}`);
    else await rm(folder, { recursive: true, force: true });
  }
};

const choose = (only: string | undefined): readonly Example[] => {
  const chosen = examples.filter(({ name }) => only === undefined || name === only || name.startsWith(`${only}/`));
  if (chosen.length > 0) return chosen;
  const known = examples.map(({ name }) => name).join(', ');
  throw new Exit(EXIT.badInput, `there is no example ${only}`, `there are ${known}`);
};

const localOptions = (options: DemoOptions, folder: string, { env, terminal }: Context) => ({
  processes: options.processes === true,
  folder: join(folder, 'installation'),
  temporary: options.keep !== true,
  port: 0,
  nats: options.nats ?? null,
  postgres: null,
  apiKeys: '',
  path: examplePath(env.PATH),
  drainMs: DRAIN_MS,
  concurrency: CONCURRENCY,
  onProgress: (line: string) => terminal.note(line),
});

interface Stage {
  readonly installation: Installation;
  readonly folder: string;
  readonly options: DemoOptions;
  readonly context: Context;
  readonly interrupted: Interruption;
}

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));

/** Decides as a person would: with the command line, in a process of its own. */
const decideFrom =
  ({ writeUrl, auditUrl }: Installation, env: Context['env']) =>
  async (handoff: string, args: readonly string[]): Promise<void> => {
    const urls = ['--url', writeUrl, '--audit-url', auditUrl];
    await promisify(execFile)(process.execPath, [MAIN, 'decide', handoff, ...args, ...urls], { env });
  };

/** What this machine can not run is said, and left out. */
const withoutMissing = async (chosen: readonly Example[], { terminal, env }: Context): Promise<readonly Example[]> => {
  const PATH = examplePath(env.PATH);
  const isThere = async ({ needs }: Example): Promise<boolean> =>
    needs === undefined ||
    promisify(execFile)(needs, ['--version'], { env: { PATH } }).then(
      () => true,
      () => false,
    );
  const found = await Promise.all(chosen.map(isThere));
  for (const { name, needs } of chosen.filter((_, at) => !found[at])) {
    terminal.note(`${name} is left out: there is no ${needs} on this machine`);
  }
  return chosen.filter((_, at) => found[at]);
};

const demonstrate = async (chosen: readonly Example[], stage: Stage): Promise<number> => {
  const { installation, context, folder, interrupted } = stage;
  const { terminal, env } = context;
  terminal.note(`bus: ${installation.bus}`);
  const possible = await withoutMissing(chosen, context);
  const client = fixpointClient({ writeUrl: installation.writeUrl, auditUrl: installation.auditUrl, apiKey: null });
  const ran = await Promise.race([
    runExamples(possible, {
      ...{ client, terminal, path: examplePath(env.PATH), folder: join(folder, 'examples') },
      workerUrl: installation.workerUrl,
      decide: decideFrom(installation, env),
    }),
    interrupted.happened,
  ]);
  if (ran === undefined) return EXIT.interrupted;
  const shown = await Promise.all(
    ran.lineages.map(async ({ example, lineage }) => ({ example, ...(await readTree(client, lineage)) })),
  );
  for (const surprise of ran.surprises) terminal.note(`surprise: ${surprise}`);
  if (stage.options.json === true) for (const each of shown) terminal.json(demoRecord(each));
  else terminal.print(demoReport(shown));
  return ran.surprises.length === 0 ? EXIT.ok : EXIT.failed;
};
