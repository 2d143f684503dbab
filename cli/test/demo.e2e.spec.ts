import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { jsonLines, until, type Workplace, workplace } from './spawned-cli.ts';

jest.setTimeout(300_000);

let place: Workplace;
beforeEach(() => {
  place = workplace();
});
afterEach(() => {
  place.remove();
});

const expectNothingLeft = async (): Promise<void> => {
  await until('nothing runs', () => place.leftovers().length === 0, 10_000).catch(() => undefined);
  expect(place.leftovers()).toEqual([]);
  expect(readdirSync(place.temporary)).toEqual([]);
};

/** Takes `nats-server` out of sight: away from the file system where that can be done for one process, else by option. */
const withoutNats = (): { readonly through: readonly string[]; readonly args: readonly string[] } => {
  const server = spawnSync('sh', ['-c', 'PATH="$PATH:/usr/sbin" command -v nats-server'], {
    encoding: 'utf8',
  }).stdout.trim();
  const hide = ['unshare', '--mount', 'sh', '-c', `mount --bind /dev/null ${server} && exec "$@"`, 'sh'];
  const works = server !== '' && spawnSync(hide[0] ?? '', [...hide.slice(1), 'true']).status === 0;
  return works ? { through: hide, args: [] } : { through: [], args: ['--nats', 'none'] };
};

const hasPython = spawnSync('python3', ['--version']).status === 0;

describe('the demonstration', () => {
  test('ends every example as it says, on JetStream, and leaves nothing behind', async () => {
    const { code, stdout, stderr } = await place.run(['demo', '--json']);
    expect(stderr).toContain('bus: JetStream at nats://');
    const records = jsonLines(stdout);
    expect(records).toEqual([
      row('commit-deps', 'completed', { fix_attempts: 0, depth: 0, rung: 'self_repair' }),
      row('format-and-lint', 'completed', {}),
      row('pipeline', 'completed', { fix_attempts: 0, depth: 0, rung: 'recipe' }),
      row('best-effort', 'degraded', { fix_attempts: 0, depth: 0 }),
      row('hard-blocker', 'blocked', { fix_attempts: 0, depth: 0 }),
      row('too-big', 'completed', { fix_attempts: 0, depth: 0 }),
      row('proved-subtree', 'completed', { fix_attempts: 0, depth: 0 }),
      row('landed-meanwhile', 'completed', { fix_attempts: 0, depth: 0, rung: 'recipe' }),
      row('dead-end', 'completed', { fix_attempts: 0, depth: 0, rung: 'recipe' }),
      row('never-passes/deeper', 'human', { fix_attempts: 3, depth: 3 }),
      row('never-passes/tug-of-war', 'human', { fix_attempts: 10, depth: 1 }),
      row('never-passes/standstill', 'human', { fix_attempts: 1, depth: 1 }),
      ...(hasPython ? [row('worker', 'completed', { fix_attempts: 0, depth: 0, rung: 'recipe' })] : []),
    ]);
    expect(stderr.includes('there is no python3')).toBe(!hasPython);
    expect(new Set(records.map(({ lineage_id }) => lineage_id)).size).toBe(records.length);
    expect(code).toBe(0);
    await expectNothingLeft();
  });

  const row = (example: string, status: string, rest: object) => ({
    example,
    status,
    rung: expect.any(String),
    fix_attempts: expect.any(Number),
    depth: expect.any(Number),
    events: expect.any(Number),
    ...{ tokens: 0, money_micros: 0 },
    lineage_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    ...rest,
  });

  test('runs on a bus inside the process where there is no NATS, and says so', async () => {
    const { through, args } = withoutNats();
    const { code, stdout, stderr } = await place.run(['demo', '--only', 'hard-blocker', ...args], { through });
    expect(stderr).toMatch(/^bus: in this process \((nats-server is not installed|no NATS is wanted)\)$/m);
    expect(stdout).toMatch(/^hard-blocker +blocked/m);
    expect(stdout).toMatch(/^0 root: blocked/m);
    expect(code).toBe(0);
    await expectNothingLeft();
  });

  test('stops at Ctrl-C and leaves nothing behind', async () => {
    const demo = place.start(['demo', '--only', 'never-passes']);
    await until('a lineage runs', () => demo.stderr().includes('lineage '), 120_000);
    demo.process.kill('SIGINT');
    const { code, stdout } = await demo.finished;
    expect([code, stdout]).toEqual([130, '']);
    await expectNothingLeft();
  });
});
