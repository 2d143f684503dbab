import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { bubblewrap } from './bubblewrap.ts';
import { findProgram } from './find-program.ts';
import { findSandbox } from './find-sandbox.ts';
import { noSandbox } from './no-sandbox.ts';
import { alive, PATH, sandboxContract, sandboxWorld } from './sandbox.contract.ts';
import type { Sandbox } from './sandbox.ts';

// Real processes on a busy machine.
jest.setTimeout(60_000);

/** @throws where these tests can not be run: they are never passed over. */
const installedBubblewrap = (): Sandbox => {
  const [bwrap, prlimit] = [findProgram('bwrap', PATH), findProgram('prlimit', PATH)];
  if (bwrap === null || prlimit === null) {
    throw new Error('these tests need bubblewrap: apt-get install -y bubblewrap util-linux');
  }
  return bubblewrap({ bwrap, prlimit, path: PATH });
};

sandboxContract('none', () => noSandbox(PATH));
sandboxContract('bubblewrap', installedBubblewrap);

describe('bubblewrap', () => {
  let world: ReturnType<typeof sandboxWorld>;
  beforeAll(() => {
    world = sandboxWorld(installedBubblewrap());
  });
  afterAll(() => world.close());

  test('shows a command neither the processes of the host nor their environment', async () => {
    const { stdout } = await world.shell('ls /proc | grep -c "^[0-9]"; cat /proc/*/environ | tr "\\0" "\\n"', {
      env: { OWN: 'yes' },
    });
    expect(Number(stdout.head.split('\n')[0])).toBeLessThan(12);
    expect(stdout.head).toContain('OWN=yes');
    expect(stdout.head).not.toContain('JEST_WORKER_ID');
  });

  test('shows no file of the host but programs, and lets nothing be written beside the workspace', async () => {
    const other = mkdtempSync(join(world.top, 'other-'));
    writeFileSync(join(other, 'note'), 'of somebody else');
    symlinkSync(join(other, 'note'), join(world.cwd, 'leak'));
    const reads = [
      `cat ${other}/note`,
      'cat leak',
      `ls ${world.top}/other-*`,
      'cat /etc/shadow',
      'ls /root/.*',
      'ls /home/*',
    ];
    for (const text of reads) expect([text, (await world.shell(text)).exitCode]).not.toEqual([text, 0]);
    const writes = ['touch /x', 'touch /usr/x', 'touch /etc/x', 'touch /dev/x', `touch ${other}/x`, 'echo 1 > leak'];
    for (const text of writes) expect([text, (await world.shell(text)).exitCode]).not.toEqual([text, 0]);
    expect(existsSync(join(other, 'x'))).toBe(false);
  });

  test('lets a command read what its confinement names, and nothing beside it', async () => {
    const shared = join(world.top, 'shared');
    mkdirSync(join(shared, 'a'), { recursive: true });
    writeFileSync(join(shared, 'a/tool'), 'x');
    writeFileSync(join(shared, 'secret'), 'y');
    const confinement = world.confined({ readable: [join(shared, 'a'), join(world.top, 'missing')] });
    const { stdout, exitCode } = await world.shell(`cat ${shared}/a/tool; ls ${shared}; ! touch ${shared}/a/x`, {
      confinement,
    });
    expect([exitCode, stdout.head]).toEqual([0, 'xa\n']);
  });

  test('has no network, not even its loopback, unless it is given', async () => {
    const server = createServer((_, response) => response.end('hello'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const text = `node -e "fetch('http://127.0.0.1:${port}').then((r) => r.text()).then(console.log)"`;
    expect(await world.shell(text)).toMatchObject({ exitCode: 1, stdout: { bytes: 0 } });
    const confinement = world.confined({ network: true });
    expect((await world.shell(text, { confinement })).stdout.head).toBe('hello\n');
    server.close();
  });

  test('gives no privilege, and lets none be gained', async () => {
    const { stdout } = await world.shell(
      'grep -E "^(CapEff|CapPrm|NoNewPrivs):" /proc/self/status; unshare -U true; echo $?',
    );
    expect(stdout.head).toMatch(/CapPrm:\s*0+\nCapEff:\s*0+\nNoNewPrivs:\s*1\n[1-9]/);
    expect((await world.shell('mount -t tmpfs x /mnt || mount -o remount,rw /')).exitCode).not.toBe(0);
  });

  test('bounds what is kept in memory as files', async () => {
    const { stderr, exitCode } = await world.shell('head -c 400000000 /dev/zero > /tmp/full');
    expect([exitCode, stderr.head]).toEqual([1, expect.stringContaining('No space left')]);
  });

  test('keeps variables of the command from what starts it', async () => {
    writeFileSync(join(world.cwd, 'not-a-library.so'), 'x');
    const { stderr, exitCode } = await world.shell('true', {
      env: { LD_PRELOAD: join(world.cwd, 'not-a-library.so') },
    });
    expect(exitCode).toBe(0);
    expect(stderr.head.match(/not-a-library/g)?.length).toBe(2);
  });

  test('dies with the process that started it', async () => {
    const program = fileURLToPath(new URL('./dying.fixture.ts', import.meta.url));
    const nap = `sleep 413.${process.pid}`;
    const folder = mkdtempSync(join(tmpdir(), 'fixpoint-dying-'));
    const child = spawn(process.execPath, ['--conditions=@fixpoint/source', program, folder, nap], {
      stdio: 'inherit',
    });
    await until(() => alive(nap) > 0);
    child.kill('SIGKILL');
    await until(() => alive(nap) === 0);
    rmSync(folder, { recursive: true });
  });
});

describe('a host', () => {
  test('with bubblewrap says so after a try', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fixpoint-probe-'));
    expect(await findSandbox({ path: PATH, folder })).toMatchObject({
      ...{ works: true, detail: expect.stringContaining('bubblewrap at /') },
    });
    rmSync(folder, { recursive: true });
  });

  test.each([
    ['without bubblewrap', null, 'bubblewrap is not installed'],
    ['whose bubblewrap makes no namespaces', 'echo "bwrap: No permissions" >&2; exit 1', 'No permissions'],
    [
      'whose bubblewrap confines nothing',
      'while [ "$1" != -- ]; do shift; done; shift; exec "$@"',
      'does not work here',
    ],
  ])('%s has no sandbox, and starts nothing in it', async (_, script, detail) => {
    const folder = mkdtempSync(join(tmpdir(), 'fixpoint-probe-'));
    const programs = join(folder, 'programs');
    mkdirSync(programs);
    symlinkSync('/usr/bin/prlimit', join(programs, 'prlimit'));
    if (script !== null) writeFileSync(join(programs, 'bwrap'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const support = await findSandbox({ path: programs, folder });
    expect(support).toMatchObject({ works: false, detail: expect.stringContaining(detail) });
    const world = sandboxWorld(support.sandbox);
    expect(await world.shell('touch ran')).toMatchObject({ status: 'not_started', error: { code: 'sandbox_failed' } });
    expect(existsSync(join(world.cwd, 'ran'))).toBe(false);
    world.close();
    rmSync(folder, { recursive: true });
  });
});

/** Waits until a condition is true, at most twenty seconds. */
const until = async (condition: () => boolean): Promise<void> => {
  for (let tries = 0; tries < 2000 && !condition(); tries += 1) await pause(10);
  expect(condition()).toBe(true);
};
