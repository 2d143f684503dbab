import { createHash } from 'node:crypto';
import type { Clock } from '@fixpoint/contracts/clock';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import type { Command, CommandResult, Output, Runner } from '@fixpoint/execution/runner';
import type { FileTrees } from './file-trees.ts';

/** What outlives every workspace: how often something was done, by name. */
export type Outside = Map<string, number>;

export interface SmallShellDeps {
  readonly trees: FileTrees;
  readonly artifacts: Artifacts;
  readonly clock: Clock;
  readonly outside: Outside;
  /** Ends the process that runs the command; what it was doing is never heard of again. */
  readonly crash: () => void;
  /** Takes the work that a command hands in with the token of its run; undefined: nobody does. */
  readonly handIn?: ((token: string, name: string) => Promise<boolean>) | undefined;
}

interface Said {
  readonly code: number;
  readonly out?: string;
  readonly err?: string;
}

interface Call {
  readonly args: readonly string[];
  readonly tree: Map<string, string>;
  readonly deps: SmallShellDeps;
  readonly command: Command;
}

const DONE: Said = { code: 0 };
const FAILED: Said = { code: 1 };

/** True the first `times` times that anybody asks for this name, anywhere in this world. */
const isEarly = ({ outside }: SmallShellDeps, name: string, times: number): boolean => {
  const done = (outside.get(name) ?? 0) + 1;
  outside.set(name, done);
  return done <= times;
};

const readFile = ({ tree }: Call, path = ''): Said => {
  const text = tree.get(path);
  return text === undefined ? { code: 1, err: `${path}: No such file\n` } : { code: 0, out: text };
};

const grep = ({ args: [text = '', path = ''], tree }: Call): Said =>
  (tree.get(path) ?? '').includes(text) ? DONE : FAILED;

/** Excluding a path that starts with `_` in the short form fails as it does with the real one. */
const git = ({ args, tree }: Call): Said => {
  const magic = args.find((word) => /^:[!^]_/.test(word));
  if (magic !== undefined) return { code: 128, err: `fatal: Unimplemented pathspec magic '_' in '${magic}'\n` };
  if (args[0] === 'commit') tree.set('committed', `${[...tree.keys()].length} files\n`);
  return DONE;
};

/** Sleeps by the clock of this world, until it is told to stop. */
const sleep = async ({ args, deps, command }: Call): Promise<Said> => {
  await deps.clock.sleep(Number(args[0]) * 1_000, command.signal);
  return DONE;
};

/** Whoever has no token, or whose work is refused, has failed. */
const submit = async ({ args: [name = ''], deps, command }: Call): Promise<Said> =>
  (await deps.handIn?.(command.env?.FIXPOINT_RUN_TOKEN ?? '', name)) === true ? DONE : FAILED;

/**
 * The programs of this world. `flaky NAME N` fails the first N times, `missing NAME N` can not be found the first N times,
 * `submit NAME` hands in a part with the token of its run,
 * `crash NAME` takes its executor with it the first time, `lines FILE N` holds when a file has at least N lines.
 */
const PROGRAMS: Readonly<Record<string, (call: Call) => Said | Promise<Said>>> = {
  echo: ({ args }) => ({ code: 0, out: `${args.join(' ')}\n` }),
  cat: (call) => readFile(call, call.args[0]),
  grep: (call) => grep({ ...call, args: call.args.filter((word) => word !== '-q') }),
  test: ({ args, tree }) => (tree.has(args[1] ?? '') ? DONE : FAILED),
  lines: ({ args: [path = '', least], tree }) =>
    (tree.get(path) ?? '').split('\n').length > Number(least) ? DONE : FAILED,
  git,
  sleep,
  submit,
  flaky: ({ args: [name = '', times], deps }) => (isEarly(deps, name, Number(times)) ? FAILED : DONE),
  missing: ({ args: [name = '', times], deps }) => (isEarly(deps, name, Number(times)) ? { code: 127 } : DONE),
  crash: ({ args: [name = ''], deps }) => {
    if (!isEarly(deps, name, 1)) return DONE;
    deps.crash();
    return new Promise(() => undefined);
  },
};

/** Variables stand for their values outside single quotes, and what they hold is never looked at again. */
const wordsOf = (text: string, { env = {} }: Command): string[] =>
  (text.match(/'[^']*'|"[^"]*"|\S+/g) ?? []).map((word) => {
    if (word.startsWith("'")) return word.slice(1, -1);
    return word.replaceAll(/^"(.*)"$/g, '$1').replaceAll(/\$([A-Z_]+)/g, (_, name: string) => env[name] ?? '');
  });

/** One command, its output put where `>` or `>>` says. */
const step = async (text: string, call: Omit<Call, 'args'>): Promise<Said> => {
  const [before = '', operator, path = ''] = text.split(/\s(>>?)\s/);
  const [program = '', ...args] = wordsOf(before, call.command);
  const run = PROGRAMS[program];
  const said = run === undefined ? { code: 127, err: `${program}: not found\n` } : await run({ ...call, args });
  if (operator === undefined || said.code !== 0) return said;
  const old = operator === '>>' ? (call.tree.get(path.trim()) ?? '') : '';
  call.tree.set(path.trim(), `${old}${said.out ?? ''}`);
  return DONE;
};

const outputOf = async (text: string, artifacts: Artifacts): Promise<Output> => {
  const sha256 = createHash('sha256').update(text).digest('hex');
  const hash = text === '' ? null : (await artifacts.put(Buffer.from(text))).hash;
  return { hash, sha256, bytes: Buffer.byteLength(text), head: text, tail: '', truncated: false };
};

const textOf = ({ program }: Command): string => (program.kind === 'argv' ? program.argv.join(' ') : program.text);

/** Programs joined by `&&`, one after the other, until one fails. */
const runAll = async (call: Omit<Call, 'args'>): Promise<Required<Said>> => {
  const all = { code: 0, out: '', err: '' };
  for (const text of textOf(call.command).split('&&')) {
    if (all.code !== 0 || call.command.signal?.aborted === true) break;
    const said = await step(text.trim(), call);
    all.code = said.code;
    all.out += said.out ?? '';
    all.err += said.err ?? '';
  }
  return all;
};

/** A runner whose commands touch nothing but the trees and the clock of this world. */
export const smallShell = (deps: SmallShellDeps): Runner => ({
  run: async (command): Promise<CommandResult> => {
    const startedMs = deps.clock.monotonicMs();
    const tree = deps.trees.folder(command.cwd);
    if (tree === undefined) throw new Error(`there is no folder ${command.cwd}`);
    const { code, out, err } = await runAll({ tree, deps, command });
    const cancelled = command.signal?.aborted === true;
    return {
      status: cancelled ? 'cancelled' : 'exited',
      exitCode: cancelled ? null : code,
      signal: null,
      durationMs: deps.clock.monotonicMs() - startedMs,
      stdout: await outputOf(out, deps.artifacts),
      stderr: await outputOf(err, deps.artifacts),
      leftovers: 0,
      survivors: [],
      error: null,
    };
  },
});
