import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Client, fixpointClient } from '@fixpoint/client/client';
import type { ApiKey } from '@fixpoint/runtime/api-keys';
import { eventually } from '@fixpoint/testing/eventually';
import { z } from 'zod';

export type Service = 'orchestrator' | 'validator' | 'executor' | 'decomposer' | 'auditor';

export interface InstallationOptions {
  readonly postgresUrl: string | null;
  /** Default: a private one. */
  readonly natsUrl?: string | null;
  readonly withoutNats?: boolean;
  readonly embedded?: boolean;
  /** A list when embedded, as FIXPOINT_API_KEYS says it when not. */
  readonly apiKeys?: string | readonly ApiKey[];
  readonly concurrency?: number;
  readonly drainMs?: number;
  /** OTEL_* variables. */
  readonly telemetryEnv?: Readonly<Record<string, string>>;
  /** FIXPOINT_MODELS, FIXPOINT_COUNCIL and keys. */
  readonly modelEnv?: Readonly<Record<string, string>>;
  /** Folder of another installation, whose keys this one has. */
  readonly keysOf?: string;
}

/** A real installation in processes of its own, as `npm run up` starts it. */
export interface RunningInstallation {
  readonly client: Client;
  readonly writeUrl: string;
  readonly auditUrl: string;
  readonly workerUrl: string;
  /** Where its messages go, for people. */
  readonly bus: string;
  /** PATH that the commands of its tasks have. */
  readonly path: string;
  /** A folder for the spec; removed at the end. */
  readonly folder: string;
  /** Of the process that runs now; null between an end and the restart. */
  pid(service: Service): number | null;
  /** SIGKILL. @returns the process id that is gone. */
  kill(service: Service): number;
  /** Resolves with the process id once another process than `former` runs the service. */
  restarted(service: Service, former: number): Promise<number>;
  /** How the service ended last without being asked by its starter: `exit code 0`, `SIGKILL`; null when it never did. */
  lastEnd(service: Service): string | null;
  /** Everything the processes have logged so far. */
  log(): Promise<string>;
  /** @returns the exit code. */
  stop(): Promise<number | null>;
}

const factSchema = z.object({
  started: z
    .object({ writeUrl: z.string(), auditUrl: z.string(), workerUrl: z.string(), bus: z.string(), path: z.string() })
    .optional(),
  pids: z.record(z.string(), z.number().nullable()).optional(),
  exit: z.object({ service: z.string(), how: z.string() }).optional(),
});
type Facts = z.infer<typeof factSchema>;

const PROGRAM = fileURLToPath(new URL('./installation-program.mjs', import.meta.url));
const START_MS = 90_000;
const KEYS = 'token-signing-keys.json';

/** @throws when it is not up within a minute and a half; the message has what it logged. */
export const startInstallation = async (options: InstallationOptions): Promise<RunningInstallation> => {
  const { keysOf, ...rest } = options;
  const folder = await mkdtemp(join(tmpdir(), 'fixpoint-e2e-'));
  if (keysOf !== undefined) await copyFile(join(keysOf, KEYS), join(folder, KEYS));
  const given = JSON.stringify({ natsUrl: null, apiKeys: options.embedded ? [] : '', ...rest, folder });
  const env = { ...process.env, ...options.telemetryEnv };
  const program = spawn(process.execPath, [PROGRAM, given], { stdio: ['ignore', 'pipe', 'pipe'], env });
  const logFile = join(folder, 'installation.log');
  program.stderr.pipe(createWriteStream(logFile));
  const ends = new Map<string, string>();
  const facts = factsOf(program, ends);
  const log = () => readFile(logFile, 'utf8');
  const started = await eventually('the installation is up', () => facts.started ?? hasEnded(program), START_MS).catch(
    async (error: unknown) => {
      program.kill('SIGKILL');
      throw new Error(`${error}\n${await log()}`);
    },
  );
  return running({ program, facts, ends, folder, log }, started);
};

const hasEnded = ({ exitCode }: ChildProcess): null => {
  if (exitCode !== null) throw new Error(`the installation ended with ${exitCode}`);
  return null;
};

/** What was said last of each kind. */
const factsOf = (program: ChildProcess, ends: Map<string, string>): Facts => {
  const facts: Facts = {};
  if (program.stdout === null) throw new Error('the program has no output');
  createInterface({ input: program.stdout }).on('line', (line) => {
    const fact = factSchema.parse(JSON.parse(line));
    if (fact.exit) ends.set(fact.exit.service, fact.exit.how);
    Object.assign(facts, fact);
  });
  return facts;
};

interface Parts {
  readonly program: ChildProcess;
  readonly facts: Facts;
  readonly ends: ReadonlyMap<string, string>;
  readonly folder: string;
  readonly log: () => Promise<string>;
}

const running = (
  { program, facts, ends, folder, log }: Parts,
  started: NonNullable<Facts['started']>,
): RunningInstallation => {
  const pid = (service: Service): number | null => facts.pids?.[service] ?? null;
  return {
    ...started,
    client: fixpointClient({ ...started, apiKey: null }),
    folder,
    pid,
    kill: (service) => {
      const victim = pid(service);
      if (victim === null) throw new Error(`the ${service} does not run`);
      process.kill(victim, 'SIGKILL');
      return victim;
    },
    restarted: (service, former) =>
      eventually(`another process runs the ${service}`, () => {
        const now = pid(service);
        return now !== null && now !== former && now;
      }),
    lastEnd: (service) => ends.get(service) ?? null,
    log,
    stop: () => stop(program, folder),
  };
};

const stop = async (program: ChildProcess, folder: string): Promise<number | null> => {
  if (program.exitCode === null && program.signalCode === null) {
    const exited = once(program, 'exit');
    program.kill('SIGTERM');
    await exited;
  }
  await rm(folder, { recursive: true, force: true });
  return program.exitCode;
};
