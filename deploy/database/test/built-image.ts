import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, glob, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { dockerfile, type Instruction, type Stage } from './dockerfile.ts';

const run = promisify(execFile);
const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));

/** What `.dockerignore` keeps out of the context. */
const isContext = (path: string): boolean =>
  !/(?:^|\/)(?:node_modules|dist|coverage|\.git|\.fixpoint|\.env[^/]*|[^/]*\.tsbuildinfo)(?:\/|$)/.test(
    path.slice(REPOSITORY.length),
  );

export interface BuiltImage {
  /** What is `/app` in the image. */
  readonly app: string;
  remove(): Promise<void>;
}

/**
 * Carries out the stages of the Dockerfile in folders of their own: every instruction but those of the last stage that
 * only Debian as root can (`RUN` there), with Node and npm of this machine in place of the image's.
 */
export const builtImage = async (): Promise<BuiltImage> => {
  const top = await mkdtemp(join(tmpdir(), 'fixpoint-image-'));
  const stages = dockerfile();
  const last = stages.at(-1);
  const remove = () => rm(top, { recursive: true, force: true, maxRetries: 3 });
  const workdirs = new Map<string, string>();
  try {
    for (const stage of stages) {
      workdirs.set(stage.name, await carryOut(stage, { top, workdirs, isLast: stage === last }));
    }
    return { app: join(top, last?.name ?? '', 'app'), remove };
  } catch (error) {
    await remove();
    throw error;
  }
};

interface Setting {
  readonly top: string;
  /** Of the stages before. */
  readonly workdirs: ReadonlyMap<string, string>;
  readonly isLast: boolean;
}

/** @returns the working folder at the end, which a stage on top of this one begins in. */
const carryOut = async (stage: Stage, { top, workdirs, isLast }: Setting): Promise<string> => {
  const root = join(top, stage.name);
  let workdir = workdirs.get(stage.from) ?? '/';
  await mkdir(root);
  if (workdirs.has(stage.from)) await copy(`${join(top, stage.from)}/.`, root);
  for (const instruction of stage.instructions) {
    if (instruction.name === 'WORKDIR') workdir = instruction.text;
    const folder = join(root, workdir);
    await mkdir(folder, { recursive: true });
    if (instruction.name === 'COPY') await carryOutCopy(instruction, folder, top);
    if (instruction.name === 'RUN' && !isLast) await carryOutRun(instruction, folder);
  }
  return workdir;
};

/** Files are shared, not copied: a stage that others copy from is finished, and nothing writes into what it made. */
const copy = (from: string, to: string): Promise<unknown> => run('cp', ['-a', '--link', from, to]);

const carryOutCopy = async ({ flags, words }: Instruction, folder: string, top: string): Promise<void> => {
  const target = words.at(-1) ?? '';
  for (const source of words.slice(0, -1)) {
    if (flags.from === undefined) await copyFromContext(source, { folder, target });
    else await copyFromStage(join(top, flags.from, source), resolve(folder, target));
  }
};

/** A folder goes with what is in it, a file under its name. */
const copyFromContext = async (source: string, to: { folder: string; target: string }): Promise<void> => {
  const place = resolve(to.folder, to.target.endsWith('/') ? join(to.target, basename(source)) : to.target);
  await mkdir(dirname(place), { recursive: true });
  await cp(join(REPOSITORY, source), place, { recursive: true, filter: isContext, verbatimSymlinks: true });
};

const copyFromStage = async (from: string, to: string): Promise<void> => {
  await mkdir(to, { recursive: true });
  await copy(`${from}/.`, to);
};

/** With the packages that `npm ci` of this clone has left in npm's cache. */
const carryOutRun = async ({ text }: Instruction, folder: string): Promise<void> => {
  if (!text.startsWith('npm ci ')) return shell(text, folder);
  try {
    await shell(text, folder);
  } catch (cause) {
    // No cache and no network. What the lock file names lies in this clone, too, and npm can take the rest away.
    process.stderr.write(`the packages of the image are those of this clone: ${cause}\n`);
    await borrowPackages(folder);
    await shell(text.replace('npm ci', 'npm prune --offline'), folder);
  }
};

const borrowPackages = async (folder: string): Promise<void> => {
  for (const manifest of await globbed('{.,libs/*,services/*,deploy/*}/package.json', folder)) {
    const packages = join(dirname(manifest), 'node_modules');
    await rm(join(folder, packages), { recursive: true, force: true });
    if (existsSync(join(REPOSITORY, packages))) await copyFromStage(join(REPOSITORY, packages), join(folder, packages));
  }
};

const globbed = (pattern: string, cwd: string): Promise<string[]> => Array.fromAsync(glob(pattern, { cwd }));

const shell = async (text: string, cwd: string): Promise<void> => {
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}`,
    HOME: homedir(),
    npm_config_prefer_offline: 'true',
    npm_config_update_notifier: 'false',
  };
  const options = { cwd, env, maxBuffer: 16 * 1024 * 1024 };
  await run('/bin/sh', ['-c', text], options).catch((error: Error & { stdout?: string }) => {
    throw new Error(`${error.message}\n${error.stdout}`);
  });
};
