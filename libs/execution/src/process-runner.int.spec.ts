import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { memoryArtifacts } from './artifacts.fixture.ts';
import { hostRunner, killAbandoned } from './process-runner.ts';
import type { Command, CommandResult, Runner } from './runner.ts';
import { noSandbox } from './sandbox/no-sandbox.ts';

const artifacts = memoryArtifacts();
const PATH = process.env.PATH ?? '/usr/bin:/bin';
let folder: string;
let cwd: string;
let runner: Runner;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fixpoint-runner-'));
  cwd = mkdtempSync(join(tmpdir(), 'fixpoint-cwd-'));
  runner = hostRunner({ artifacts, folder, path: PATH, sandbox: noSandbox(PATH) });
});

afterAll(() => {
  expect(readdirSync(folder)).toEqual([]);
  for (const path of [folder, cwd]) rmSync(path, { recursive: true });
});

const shell = (text: string, more: Partial<Command> = {}): Promise<CommandResult> =>
  runner.run({ program: { kind: 'shell', text }, cwd, timeoutMs: 20_000, ...more });

/** Waits until a condition is true, at most five seconds. */
const until = async (condition: () => boolean): Promise<void> => {
  for (let tries = 0; tries < 500 && !condition(); tries += 1) await pause(10);
  expect(condition()).toBe(true);
};

const commandLines = (): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
      } catch {
        return '';
      }
    });

/** A sleep that no other run of this spec has. */
const nap = (seconds: number): string => `sleep ${seconds}.${process.pid}`;

const alive = (commandLine: string): number => commandLines().filter((line) => line === commandLine).length;

describe('a command', () => {
  test('ends with its exit code and both outputs apart', async () => {
    const result = await shell('echo out; echo err >&2; exit 3');
    expect(result).toMatchObject({ status: 'exited', exitCode: 3, signal: null, leftovers: 0, error: null });
    expect([result.stdout.head, result.stderr.head]).toEqual(['out\n', 'err\n']);
    expect(artifacts.bytesOf(result.stdout.hash).toString()).toBe('out\n');
  });

  test('that prints nothing stores nothing', async () => {
    expect((await shell('true')).stdout).toMatchObject({ hash: null, bytes: 0, head: '', truncated: false });
  });

  test('ended by a signal of somebody else is no exit', async () => {
    expect(await shell('kill -TERM $$')).toMatchObject({ status: 'signaled', exitCode: null, signal: 'SIGTERM' });
  });

  test('sees a short list of variables, and those it was given', async () => {
    const names = (await shell('env', { env: { GIVEN: "it's $HOME" } })).stdout.head
      .split('\n')
      .map((line) => line.split('=')[0] ?? '');
    const own = [
      'FIXPOINT_COMMAND_ID',
      'FIXPOINT_COMMAND_OWNER',
      'GIT_CONFIG_NOSYSTEM',
      'GIT_TERMINAL_PROMPT',
      'GIVEN',
      'HOME',
      'LANG',
      'PATH',
    ];
    expect(names.filter((name) => !['', 'PWD', 'SHLVL', '_', 'OLDPWD'].includes(name)).sort()).toEqual([
      ...own,
      'TMPDIR',
    ]);
    expect((await shell('printf %s "$GIVEN"', { env: { GIVEN: "it's $HOME" } })).stdout.head).toBe("it's $HOME");
  });

  test('has an empty home of its own, gone afterwards', async () => {
    const { stdout } = await shell('ls -A "$HOME"; touch "$HOME/.trace"; echo "$HOME"');
    expect(stdout.head.trim()).toMatch(/\/home$/);
    expect(existsSync(stdout.head.trim())).toBe(false);
  });

  test('leads a session and a group of its own', async () => {
    const { stdout } = await shell('echo $$; cut -d" " -f5,6 /proc/$$/stat');
    const [pid, ids] = stdout.head.split('\n');
    expect(ids).toBe(`${pid} ${pid}`);
  });

  test('may open its standard streams by name', async () => {
    const result = await shell('echo oops > /dev/stderr; cat /dev/stdin > /dev/stdout', { stdin: 'typed' });
    expect(result).toMatchObject({ exitCode: 0, stdout: { head: 'typed' }, stderr: { head: 'oops\n' } });
  });

  test('finds its input empty when none is given', async () => {
    expect(await shell('cat')).toMatchObject({ exitCode: 0, stdout: { bytes: 0 } });
  });

  test('that leaves its input unread does no harm', async () => {
    expect(await shell('exit 0', { stdin: 'x'.repeat(1_000_000) })).toMatchObject({ status: 'exited', exitCode: 0 });
  });

  test('I-B15: text longer than any argument may be still runs', async () => {
    const filler = `# ${'x'.repeat(3_000_000)}\n`;
    expect(await shell(`${filler}echo long`)).toMatchObject({ exitCode: 0, stdout: { head: 'long\n' } });
  });

  test.each([
    ['sh', 'echo "from $0" | cut -c1-4; cat'],
    ['bash', 'x=(from b); [[ $x == f* ]] && echo $x; cat'],
    ['node', 'console.log("from"); process.stdin.pipe(process.stdout)'],
    ['python3', 'import sys\nprint("from", flush=True)\nsys.stdout.write(sys.stdin.read())'],
  ] as const)('a %s script runs, with input and without', async (language, text) => {
    const program = { kind: 'script', language, text } as const;
    const command = { program, cwd, timeoutMs: 20_000 };
    expect(await runner.run({ ...command, stdin: 'in' })).toMatchObject({ exitCode: 0, stdout: { head: 'from\nin' } });
    expect((await runner.run(command)).stdout.head).toMatch(/^from\n/);
  });

  test('a node script finds modules of the working folder', async () => {
    writeFileSync(join(cwd, 'near.cjs'), 'module.exports = "near"');
    const program = { kind: 'script', language: 'node', text: 'console.log(require("./near.cjs"))' } as const;
    expect((await runner.run({ program, cwd, timeoutMs: 20_000 })).stdout.head).toBe('near\n');
  });

  test.each([
    ['E1: a command with U+0000', { program: { kind: 'shell', text: 'echo a\0b' } }, 'not_text'],
    ['a lone surrogate', { program: { kind: 'shell', text: 'echo \ud800' } }, 'not_text'],
    ['a variable with U+0000', { program: { kind: 'shell', text: 'env' }, env: { A: 'a\0' } }, 'not_text'],
    ['a program that is not there', { program: { kind: 'argv', argv: ['no-such-program'] } }, 'not_found'],
    ['a folder that is not there', { program: { kind: 'argv', argv: ['true'] }, cwd: '/no/such' }, 'cwd_missing'],
    ['a file that is no program', { program: { kind: 'argv', argv: ['/etc/passwd'] } }, 'not_executable'],
    ['an argument over the limit', { program: { kind: 'argv', argv: ['true', 'x'.repeat(200_000)] } }, 'too_long'],
  ] as const)('%s is not started and says why', async (_, part, code) => {
    const result = await runner.run({ cwd, timeoutMs: 20_000, ...part });
    expect(result).toMatchObject({ status: 'not_started', exitCode: null, error: { code } });
  });
});

describe('a process tree', () => {
  const timedOut = async (text: string, sleeper: string): Promise<void> => {
    const result = await shell(text, { timeoutMs: 600 });
    expect(result).toMatchObject({ status: 'timed_out', exitCode: null, survivors: [] });
    expect(alive(sleeper)).toBe(0);
  };

  test('E13: is dead when the time-out is reported, whatever left the session', () =>
    timedOut(`${nap(311)} & setsid ${nap(311)} & ${nap(311)}`, nap(311)));

  test('is dead although its orphans emptied their environment and left the session', () =>
    timedOut(`(env -i setsid ${nap(312)} &); ${nap(312)}`, nap(312)));

  test('is dead although it ignores polite signals', () =>
    timedOut(`trap '' TERM INT HUP; ${nap(313)}; ${nap(313)}`, nap(313)));

  test('is dead although it forks all the time', () =>
    timedOut(
      `f() { ${nap(314)} & setsid sh -c "${nap(314)}" & }; for i in $(seq 300); do f; sleep 0.01; done`,
      nap(314),
    ));

  test('E13: a second attempt finds nothing of the first', async () => {
    const attempt = `test -e lock && exit 9; touch lock; (setsid sh -c "${nap(315)}; true" &); ${nap(315)}`;
    await shell(attempt, { timeoutMs: 300 });
    rmSync(join(cwd, 'lock'));
    expect(await shell(`test "$(pgrep -f '^${nap(315)}')" = "" && exit 7`)).toMatchObject({ exitCode: 7 });
  });

  test('left behind by a command that ended well is dead too', async () => {
    const result = await shell(`${nap(316)} & setsid ${nap(316)} >/dev/null 2>&1 & exit 0`);
    expect(result).toMatchObject({ status: 'exited', exitCode: 0, leftovers: 2, survivors: [] });
    expect(alive(nap(316))).toBe(0);
  });

  test('that prints shortly after its main process ended is heard', async () => {
    expect((await shell('(sleep 0.1; echo late) & exit 0')).stdout.head).toBe('late\n');
  });

  test('B7: is cancelled at once, in silence or in a flood', async () => {
    const flood = `yes ${process.pid}`;
    for (const text of [nap(317), flood, `head -c 5000000 /dev/zero; ${nap(317)}`]) {
      const stop = new AbortController();
      const running = shell(text, { signal: stop.signal });
      await until(() => alive(nap(317)) + alive(flood) > 0);
      const askedAt = performance.now();
      stop.abort();
      expect(await running).toMatchObject({ status: 'cancelled', survivors: [] });
      expect(performance.now() - askedAt).toBeLessThan(10_000);
      expect(alive(nap(317)) + alive(flood)).toBe(0);
    }
  });

  test('is never begun when the cancel came first', async () => {
    expect(await shell('touch begun', { signal: AbortSignal.abort() })).toMatchObject({ status: 'cancelled' });
    expect(existsSync(join(cwd, 'begun'))).toBe(false);
  });

  test('whose runner was killed is found by the next one, and no living runner loses its own', async () => {
    const text = `setsid ${nap(321)} & ${nap(321)}`;
    const fixture = fileURLToPath(new URL('./flood.fixture.ts', import.meta.url));
    const options = ['--conditions=@fixpoint/source', '--no-warnings', fixture, folder, text];
    const other = spawn(process.execPath, options, { stdio: 'ignore' });
    await until(() => alive(nap(321)) === 2);
    expect(await killAbandoned(folder)).toMatchObject({ count: 0 });
    other.kill('SIGKILL');
    await once(other, 'exit');
    expect(alive(nap(321))).toBe(2);
    expect(await killAbandoned(folder)).toMatchObject({ survivors: [] });
    expect(alive(nap(321))).toBe(0);
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
  });

  test('F15 ends with its runner, when that exits without waiting for anything', async () => {
    const text = `setsid ${nap(322)} & ${nap(322)}`;
    const fixture = fileURLToPath(new URL('./leaving.fixture.ts', import.meta.url));
    const options = ['--conditions=@fixpoint/source', '--no-warnings', fixture, folder, text];
    const other = spawn(process.execPath, options, { stdio: ['pipe', 'ignore', 'inherit'] });
    await until(() => alive(nap(322)) === 2);
    const exited = once(other, 'exit');
    other.stdin?.end();
    expect(await exited).toEqual([7, null]);
    await until(() => alive(nap(322)) === 0);
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
  });

  test('of a neighbour lives on', async () => {
    const neighbour = spawn('sleep', [nap(318).slice('sleep '.length)], { stdio: 'ignore' });
    await shell(nap(319), { timeoutMs: 200 });
    expect(alive(nap(318))).toBe(1);
    neighbour.kill();
  });

  test('a time-out longer than a timer can be is no time-out at all', async () => {
    expect(await shell('sleep 0.1; echo ran', { timeoutMs: 2 ** 40 })).toMatchObject({ status: 'exited', exitCode: 0 });
  });
});
