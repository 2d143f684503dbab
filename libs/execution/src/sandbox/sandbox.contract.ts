import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { memoryArtifacts } from '../artifacts.fixture.ts';
import { hostRunner } from '../process-runner.ts';
import type { Command, CommandResult, Runner } from '../runner.ts';
import type { Confinement, Limits } from './limits.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import type { Sandbox } from './sandbox.ts';

/** The node of this process, and what the host installed. */
export const PATH = `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`;

const MIB = 1024 ** 2;
const HOARD = 'python3 -c "import time; a = bytearray(90000000); time.sleep(30)"';
const LITTER = 'for i in $(seq 30); do head -c 1000000 /dev/urandom';

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

/** A place with a runner in a sandbox. */
export const sandboxWorld = (sandbox: Sandbox) => {
  const artifacts = memoryArtifacts();
  const top = mkdtempSync(join(tmpdir(), 'fixpoint-sandbox-'));
  const cwd = mkdtempSync(join(top, 'workspace-'));
  const runner: Runner = hostRunner({ artifacts, folder: join(top, 'commands'), path: PATH, sandbox });
  const confined = (more: Partial<Confinement> = {}, limits: Partial<Limits> = {}): Confinement => ({
    ...{ sandboxed: true, network: false, readable: [] },
    limits: { ...DEFAULT_LIMITS, ...limits },
    ...more,
  });
  const run = (command: Partial<Command> & Pick<Command, 'program'>): Promise<CommandResult> =>
    runner.run({ cwd, timeoutMs: 30_000, ...command });
  return {
    top,
    cwd,
    artifacts,
    confined,
    run,
    shell: (text: string, more: Partial<Command> = {}) => run({ program: { kind: 'shell', text }, ...more }),
    close: () => {
      expect(readdirSync(join(top, 'commands'))).toEqual([]);
      rmSync(top, { recursive: true });
    },
  };
};

export const alive = (commandLine: string): number => commandLines().filter((line) => line === commandLine).length;

/** What a command may count on, whatever it runs in. */
export const sandboxContract = (name: string, make: () => Sandbox): void => {
  describe(`a command in sandbox ${name}`, () => {
    let world: ReturnType<typeof sandboxWorld>;
    const nap = (seconds: number): string => `sleep ${seconds}.${process.pid}`;

    beforeAll(() => {
      world = sandboxWorld(make());
    });
    afterAll(() => world.close());

    test('ends with its exit code and both outputs apart', async () => {
      const result = await world.shell('echo out; echo err >&2; exit 3');
      expect(result).toMatchObject({ status: 'exited', exitCode: 3, signal: null, error: null });
      expect([result.stdout.head, result.stderr.head]).toEqual(['out\n', 'err\n']);
    });

    test.each(['TERM', 'KILL', 'SEGV', 'XCPU'])('ended by SIG%s is no exit', async (signal) => {
      expect(await world.shell(`ulimit -c 0; kill -${signal} $$`)).toMatchObject({
        ...{ status: 'signaled', exitCode: null, signal: `SIG${signal}` },
      });
    });

    test('reads its input, also by name, and finds it empty when none is given', async () => {
      const named = await world.shell('echo oops > /dev/stderr; cat /dev/stdin > /dev/stdout', { stdin: 'typed' });
      expect(named).toMatchObject({ exitCode: 0, stdout: { head: 'typed' }, stderr: { head: 'oops\n' } });
      expect(await world.shell('cat')).toMatchObject({ exitCode: 0, stdout: { bytes: 0 } });
    });

    test('writes into its workspace, and into a home and a temporary folder of its own', async () => {
      const text = 'echo kept > file && ls -A "$HOME" "$TMPDIR" && touch "$HOME/h" "$TMPDIR/t" && echo "$HOME"';
      const { stdout, exitCode, stderr } = await world.shell(text);
      expect([exitCode, stderr.head]).toEqual([0, '']);
      expect(readFileSync(join(world.cwd, 'file'), 'utf8')).toBe('kept\n');
      expect(existsSync(stdout.head.trim().split('\n').at(-1) ?? '')).toBe(false);
    });

    test('writes into a home that was made for it elsewhere, where it is read afterwards', async () => {
      const home = mkdtempSync(`${world.cwd}-home-`);
      expect(await world.shell('echo kept > "$HOME/file"', { home })).toMatchObject({ exitCode: 0 });
      expect(readFileSync(join(home, 'file'), 'utf8')).toBe('kept\n');
    });

    test('has the variables that it is given, those of its launcher included, and none of this process', async () => {
      const env = { GIVEN: "it's $HOME", LD_PRELOAD: '', MULTI: 'a\nb' };
      const { stdout } = await world.shell('printf "%s|%s|%s" "$GIVEN" "$MULTI" "$(env | cut -d= -f1 | sort -u)"', {
        env,
      });
      expect(stdout.head).toContain("it's $HOME|a\nb|");
      const expected = ['FIXPOINT_COMMAND_ID', 'FIXPOINT_COMMAND_OWNER', 'GIT_CONFIG_NOSYSTEM', 'GIT_TERMINAL_PROMPT'];
      const names = stdout.head
        .split('|')[2]
        ?.split('\n')
        .filter((each) => each !== 'b');
      expect(names).toEqual([...expected, 'GIVEN', 'HOME', 'LANG', 'LD_PRELOAD', 'MULTI', 'PATH', 'PWD', 'TMPDIR']);
    });

    test.each([
      ['sh', 'echo "from $0" | cut -c1-4; cat'],
      ['bash', 'x=(from b); [[ $x == f* ]] && echo $x; cat'],
      ['node', 'console.log("from"); process.stdin.pipe(process.stdout)'],
      ['python3', 'import sys\nprint("from", flush=True)\nsys.stdout.write(sys.stdin.read())'],
    ] as const)('may be a %s script, with input and without', async (language, text) => {
      const program = { kind: 'script', language, text } as const;
      expect(await world.run({ program, stdin: 'in' })).toMatchObject({ exitCode: 0, stdout: { head: 'from\nin' } });
      expect((await world.run({ program })).stdout.head).toMatch(/^from\n/);
    });

    test('may be longer than any argument', async () => {
      expect(await world.shell(`# ${'x'.repeat(3_000_000)}\necho long`)).toMatchObject({ stdout: { head: 'long\n' } });
    });

    test.each([
      ['a program that is not there', ['no-such-program'], 'not_found'],
      ['a path where nothing is', ['/no/such'], 'not_found'],
      ['a file that is no program', ['/etc/passwd'], 'not_executable'],
      ['an argument over the limit', ['true', 'x'.repeat(200_000)], 'too_long'],
    ] as const)('%s is not started and says why', async (_, argv, code) => {
      const result = await world.run({ program: { kind: 'argv', argv } });
      expect(result).toMatchObject({ status: 'not_started', exitCode: null, error: { code } });
    });

    test('E13: is dead with all that it started when a time-out is reported', async () => {
      const text = `${nap(411)} & setsid ${nap(411)} & (env -i setsid ${nap(411)} &); ${nap(411)}`;
      expect(await world.shell(text, { timeoutMs: 600 })).toMatchObject({ status: 'timed_out', survivors: [] });
      expect(alive(nap(411))).toBe(0);
    });

    test('leaves nothing alive when it ends well', async () => {
      const result = await world.shell(`${nap(412)} & setsid ${nap(412)} >/dev/null 2>&1 & exit 0`);
      expect(result).toMatchObject({ status: 'exited', exitCode: 0, survivors: [] });
      expect(alive(nap(412))).toBe(0);
    });

    test.each([0, 1_048_575, 1_048_576, 1_048_577, 50_000_000])('E11: may print %i bytes', async (bytes) => {
      const { stdout, exitCode } = await world.shell(`head -c ${bytes} /dev/zero`);
      expect([exitCode, stdout.bytes]).toEqual([0, bytes]);
    });

    test('is stopped by the limit of a file, and can open no more files than it may', async () => {
      const limits = world.confined({}, { file_bytes: 100_000, open_files: 64 });
      const large = await world.shell('exec head -c 200000 /dev/zero > large', { confinement: limits });
      expect(large).toMatchObject({ status: 'signaled', signal: 'SIGXFSZ' });
      writeFileSync(join(world.cwd, 'open.py'), 'a = [open("/dev/null") for _ in range(100)]');
      expect((await world.shell('python3 open.py', { confinement: limits })).stderr.head).toContain(
        'Too many open files',
      );
    });

    // Every bomb here has an end: a kernel counts no processes of root, and these tests may be run by root.
    test.each<[string, string, Partial<Limits>]>([
      ['processes', 'for i in $(seq 40); do sleep 30 & done; wait', { processes: 20 }],
      [
        'what forks itself',
        'f() { [ $1 -gt 7 ] && exec sleep 30; f $(($1+1)) & f $(($1+1)) & wait; }; f 1',
        { processes: 60 },
      ],
      ['memory', `for i in 1 2 3; do ${HOARD} & done; wait`, { memory_bytes: 200 * MIB }],
      ['files', `${LITTER} > many-$i; done; sleep 30`, { disk_bytes: 20 * MIB }],
      ['files beside the workspace', `${LITTER} > "$TMPDIR/$i"; done; sleep 30`, { disk_bytes: 20 * MIB }],
    ])('is killed when all of it together is over a limit: %s', async (_, text, limits) => {
      const result = await world.shell(text, { confinement: world.confined({}, limits) });
      // Where the kernel counts, the shell is refused a process before anybody looks.
      if (limits.processes !== undefined && result.stderr.head.includes('fork')) return;
      expect(result).toMatchObject({ status: 'signaled', survivors: [], error: { code: 'over_limit' } });
      expect(result.durationMs).toBeLessThan(20_000);
    });

    test('is stopped by the limits of memory and of CPU time', async () => {
      const limits = world.confined({}, { memory_bytes: 256 * 1024 ** 2, cpu_s: 1 });
      const greedy = await world.shell('python3 -c "bytearray(600000000)"', { confinement: limits });
      expect(greedy).toMatchObject({ exitCode: 1, stderr: { head: expect.stringContaining('MemoryError') } });
      expect(await world.shell('while :; do :; done', { confinement: limits })).toMatchObject({
        ...{ status: 'signaled', signal: 'SIGXCPU' },
      });
    });
  });
};
