import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { jsonLines, type Started, until, type Workplace, workplace } from './spawned-cli.ts';

jest.setTimeout(180_000);

const COUNT = `kind: task/v1
name: count
goal: The counter is at 3
recipe: { primitive: counter, with: { to: 3 } }
postcondition: { primitive: counter-at, with: { value: 3 } }
`;

const startUp = async (
  place: Workplace,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Started> => {
  const up = place.start(['up', '--json', '--port', '0', ...args], { env });
  await until('the installation runs', () => {
    if (up.process.exitCode !== null) throw new Error(`it ended with ${up.process.exitCode}: ${up.stderr()}`);
    return up.stdout().includes('\n');
  });
  return up;
};

const expectNothingRuns = async (place: Workplace): Promise<void> => {
  await until('nothing runs', () => place.leftovers().length === 0, 30_000).catch(() => undefined);
  expect(place.leftovers()).toEqual([]);
};

describe('an installation that was started here', () => {
  let place: Workplace;
  let up: Started;
  const write = (name: string, text: string): string => {
    writeFileSync(join(place.folder, name), text);
    return name;
  };
  const submitted = async (name: string, text: string, ...args: string[]): Promise<string> => {
    const { stdout, stderr } = await place.run(['submit', '--json', write(name, text), ...args]);
    const [first] = jsonLines(stdout);
    if (typeof first?.lineage !== 'string') throw new Error(`${stdout}${stderr}`);
    return first.lineage;
  };

  beforeAll(async () => {
    place = workplace();
    up = await startUp(place, []);
  });
  afterAll(async () => {
    up.process.kill('SIGINT');
    await up.finished;
    place.remove();
  });

  test('says where it runs, to people and to the commands in its folder', async () => {
    const [said] = jsonLines(up.stdout());
    expect(said).toEqual({
      write_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      audit_url: said?.write_url,
      worker_url: said?.write_url,
      bus: expect.stringContaining('JetStream'),
      data: join(place.folder, '.fixpoint'),
    });
    const file = JSON.parse(readFileSync(join(place.folder, '.fixpoint/installation.json'), 'utf8'));
    expect(file).toEqual({ write_url: said?.write_url, audit_url: said?.audit_url, pid: up.process.pid });
  });

  test('takes a task, and shows it as it went', async () => {
    const { code, stdout } = await place.run(['submit', write('count.yaml', COUNT), '--watch']);
    expect(code).toBe(0);
    const [, lineage = ''] = /^([0-9a-f-]{36}) {2}count\.yaml$/m.exec(stdout) ?? [];
    expect(stdout).toMatch(/0#1 \S+: satisfied at rung recipe/);
    expect(stdout).toContain(`count ${lineage}: completed`);

    const tree = await place.run(['tree', lineage]);
    expect([tree.code, tree.stdout]).toEqual([0, expect.stringMatching(/^0 root: completed$/m)]);
    const ready = await place.run(['events', lineage, '--json', '--type', 'node_ready']);
    expect(jsonLines(ready.stdout).map(({ type }) => type)).toEqual(['node_ready']);
    const result = await place.run(['result', lineage, '--json']);
    expect(jsonLines(result.stdout)).toMatchObject([{ status: 'completed', output: { value: 3 }, written_to: null }]);
    const watched = await place.run(['watch', lineage]);
    expect([watched.code, watched.stdout]).toEqual([0, expect.stringContaining('completed, satisfied')]);
  });

  test('writes a result out as a repository, next to the document it came from', async () => {
    execFileSync(
      'sh',
      [
        '-c',
        'git init -qb main repo && cd repo && echo a > a && git add a && git -c user.name=x -c user.email=x@x commit -qm a',
      ],
      { cwd: place.folder },
    );
    const task = `kind: task/v1\nname: b\ngoal: b exists\nworkspace: { git: { url: ./repo, ref: main } }\nrecipe: { command: "printf made > b; printf 'a\\\\000\\\\033[31m'" }\n`;
    const lineage = await submitted('b.yaml', task, '--wait');
    const { code, stdout, stderr } = await place.run(['result', lineage, '--to', 'out']);
    expect([code, stderr]).toEqual([0, expect.stringContaining('written to')]);
    expect(readFileSync(join(place.folder, 'out/b'), 'utf8')).toBe('made');
    expect(stdout).toBe('a\\x00\\x1b[31m\n');
    const again = await place.run(['result', lineage, '--to', 'out']);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('is not empty')]);
  });

  test('refuses what is no task, says where and why, and stores nothing', async () => {
    const before = await storedLineages();
    write('bad.yaml', COUNT.replace('recipe:', 'policy: optional\nrecipe:'));
    write('broken.yaml', 'kind: task/v1\ngoal: [\n');
    write('huge.yaml', COUNT.replace('to: 3', 'to: 9007199254740993'));
    const { code, stdout, stderr } = await place.run(['submit', '--json', 'bad.yaml', 'broken.yaml', 'huge.yaml']);
    expect(code).toBe(2);
    for (const { error } of jsonLines(stdout)) {
      expect(error).toMatchObject({
        diagnostics: [{ code: expect.any(String), line: expect.any(Number), column: expect.any(Number) }],
      });
    }
    expect(stderr).toMatch(/^bad\.yaml:4:9: error FX103: .+\n {2}hint: /m);
    expect(await storedLineages()).toBe(before);
  });

  const storedLineages = async (): Promise<number> => {
    const [said] = jsonLines(up.stdout());
    const answer = await fetch(`${said?.audit_url}/v1/audit/lineages?limit=1000`);
    return ((await answer.json()) as { items: unknown[] }).items.length;
  };

  test('knows a task that it was given before, and refuses another one of the same key', async () => {
    const lineage = await submitted('once.yaml', COUNT, '--key', 'k1');
    const again = await place.run(['submit', 'once.yaml', '--key', 'k1']);
    expect([again.code, again.stdout]).toEqual([0, `${lineage}  once.yaml (submitted before)\n`]);
    const other = await place.run(['submit', write('other.yaml', COUNT.replace('at 3', 'at three')), '--key', 'k1']);
    expect([other.code, other.stderr]).toEqual([5, expect.stringMatching(/^other\.yaml: .+ \(\w+\)$/m)]);
  });

  test('publishes a protocol, once', async () => {
    write('p.yaml', 'kind: protocol/v1\nname: p\nproject: p\nmodes:\n  build: {}\n');
    const first = await place.run(['publish', 'p.yaml']);
    expect([first.code, first.stdout]).toEqual([0, 'published p@1 of project p\n']);
    const second = await place.run(['publish', 'p.yaml']);
    expect([second.code, second.stdout]).toEqual([0, 'p@1 of project p says the same already\n']);
  });

  test('a lineage that nobody knows: exit code 5', async () => {
    for (const command of ['tree', 'events', 'result', 'watch']) {
      const { code, stderr } = await place.run([command, 'nobody']);
      expect([command, code, stderr]).toEqual([command, 5, expect.stringMatching(/^fixpoint: .+/)]);
    }
  });

  test('a reader that goes away is no crash', async () => {
    const lineage = await submitted('pipe.yaml', COUNT, '--wait');
    const events = place.start(['events', lineage, '--json']);
    events.process.stdout?.destroy();
    const { code, stderr } = await events.finished;
    expect([code, stderr]).toEqual([0, '']);
  });

  test('a second one in the same folder is refused and does the first no harm', async () => {
    const second = await place.run(['up', '--port', '0']);
    const [said] = jsonLines(up.stdout());
    expect([second.code, second.stderr]).toEqual([1, expect.stringContaining(`already running at ${said?.write_url}`)]);
    expect((await place.run(['submit', write('after.yaml', COUNT), '--wait'])).code).toBe(0);
  });
});

describe('stopping an installation', () => {
  let place: Workplace;
  const inPlace = async (work: () => Promise<void>): Promise<void> => {
    place = workplace();
    try {
      await work();
    } finally {
      place.remove();
    }
  };

  test('with Ctrl-C ends five processes, which log at the level that was asked for', () =>
    inPlace(async () => {
      const up = await startUp(place, ['--processes'], { FIXPOINT_LOG_LEVEL: 'info' });
      expect(place.leftovers().length).toBeGreaterThan(7);
      for (const service of ['orchestrator', 'validator', 'executor', 'decomposer', 'auditor']) {
        await until(`the ${service} speaks`, () => up.stderr().includes(` info  ${service} ready`));
      }
      up.process.kill('SIGINT');
      expect((await up.finished).code).toBe(0);
      await expectNothingRuns(place);
      expect(existsSync(join(place.folder, '.fixpoint/installation.json'))).toBe(false);
    }));

  test('F13, F14 with SIGTERM while a recipe runs exits 0 in its time, and the next start does that work', () =>
    inPlace(async () => {
      const up = await startUp(place, []);
      const go = join(place.folder, 'go');
      const loop = `until test -e ${go}; do sleep 0.1; done`;
      writeFileSync(
        join(place.folder, 'long.yaml'),
        `kind: task/v1\nname: n\ngoal: g\nrecipe: { command: "${loop}" }\n`,
      );
      const [submitted] = jsonLines((await place.run(['submit', '--json', 'long.yaml'])).stdout);
      await until('the command runs', () => place.running(`/bin/sh -c ${loop}`).length > 0);
      up.process.kill('SIGTERM');
      expect((await up.finished).code).toBe(0);
      expect(place.running(`/bin/sh -c ${loop}`)).toEqual([]);
      await expectNothingRuns(place);
      expect(existsSync(join(place.folder, '.fixpoint/installation.json'))).toBe(false);

      const again = await startUp(place, []);
      writeFileSync(go, '');
      const watched = await place.run(['watch', String(submitted?.lineage)]);
      expect([watched.code, watched.stdout]).toEqual([0, expect.stringContaining('completed, satisfied')]);
      again.process.kill('SIGTERM');
      expect((await again.finished).code).toBe(0);
    }));

  test('with SIGKILL, too, and the next start finds what was there', () =>
    inPlace(async () => {
      const up = await startUp(place, ['--processes']);
      writeFileSync(join(place.folder, 'count.yaml'), COUNT);
      const first = await place.run(['submit', 'count.yaml', '--key', 'k', '--wait']);
      expect(first.code).toBe(0);
      up.process.kill('SIGKILL');
      await up.finished;
      await expectNothingRuns(place);

      const again = await startUp(place, []);
      const second = await place.run(['submit', 'count.yaml', '--key', 'k', '--wait']);
      expect([second.code, second.stdout]).toEqual([0, expect.stringContaining('submitted before')]);
      again.process.kill('SIGTERM');
      expect((await again.finished).code).toBe(0);
    }));

  test.each([[['--nats', 'none']], [['--processes']]])(
    'F14 with a second Ctrl-C ends at once, and with it the command of a running recipe (%j)',
    (args: string[]) =>
      inPlace(async () => {
        const up = await startUp(place, args);
        const nap = `sleep 300.${process.pid}`;
        writeFileSync(join(place.folder, 'nap.yaml'), `kind: task/v1\nname: n\ngoal: g\nrecipe: { command: ${nap} }\n`);
        expect((await place.run(['submit', 'nap.yaml'])).code).toBe(0);
        await until('the command runs', () => place.running(nap).length > 0);
        up.process.kill('SIGINT');
        await until('it stops', () => up.stderr().includes('stopping'));
        up.process.kill('SIGINT');
        expect((await up.finished).code).toBe(130);
        await until('the command is gone', () => place.running(nap).length === 0, 30_000);
        await expectNothingRuns(place);
      }),
  );
});
