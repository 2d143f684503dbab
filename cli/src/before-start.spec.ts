import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { checkStart } from './before-start.ts';
import { commandLine } from './command-line.fixture.ts';
import { writeInstallation } from './installation-file.ts';

let cwd: string;
let server: Server;
let answer: object;
let port: number;
let url: string;

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'fixpoint-start-'));
  answer = { live: true };
  server = createServer((_, response) => response.end(JSON.stringify(answer)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
  url = `http://127.0.0.1:${port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(cwd, { recursive: true, force: true });
});

const folder = (): string => join(cwd, '.fixpoint');
const left = (pid: number): Promise<void> => writeInstallation(folder(), { write_url: url, audit_url: url, pid });

describe('a port that is taken', () => {
  test.each([
    ['another Fixpoint installation', { live: true }],
    ['another program', { hello: 'world' }],
  ])('by %s is said before anything is created', async (who, said) => {
    answer = said;
    const { code, stdout, stderr } = await commandLine(['up', '--port', `${port}`], { cwd });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(new RegExp(`^fixpoint: port ${port} is taken: ${who} listens there\n {2}hint: .+--port`));
    expect(existsSync(folder())).toBe(false);
  });
  test('as the second of five processes is found, too', async () => {
    const { code, stderr } = await commandLine(['up', '--processes', '--port', `${port - 1}`], { cwd });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^fixpoint: port \d+ is taken/)]);
    expect(existsSync(folder())).toBe(false);
  });
});

test.each([
  ['one process', ['up', '--port', '0']],
  ['five processes', ['up', '--port', '0', '--processes']],
])('telemetry of %s that does not fit is said before anything is created', async (_, args) => {
  const { code, stderr } = await commandLine(args, { cwd, env: { OTEL_TRACES_EXPORTER: 'zipkin' } });
  expect([code, stderr, existsSync(folder())]).toEqual([2, expect.stringContaining('OTEL_TRACES_EXPORTER'), false]);
});

test('the last port has none after it for the audit API', async () => {
  const { code, stderr } = await commandLine(['up', '--processes', '--port', '65535'], { cwd });
  expect([code, stderr, existsSync(folder())]).toEqual([2, expect.stringContaining('three ports'), false]);
});

describe('an installation of the same folder', () => {
  test('that answers is named, and no second one starts', async () => {
    await left(process.pid);
    const { code, stderr } = await commandLine(['up'], { cwd });
    expect([code, stderr]).toEqual([1, expect.stringMatching(`^fixpoint: already running at ${url}\n`)]);
  });
  test('that was killed is none, whoever has its port now', async () => {
    await left(spawnSync('true').pid);
    await expect(checkStart({ folder: folder(), ports: [] })).resolves.toBeUndefined();
  });
  test('that does not answer is none', async () => {
    await left(process.pid);
    answer = { hello: 'world' };
    await expect(checkStart({ folder: folder(), ports: [] })).resolves.toBeUndefined();
  });
  test('whose file is damaged is none', async () => {
    await left(process.pid);
    writeFileSync(join(folder(), 'installation.json'), '{');
    await expect(checkStart({ folder: folder(), ports: [] })).resolves.toBeUndefined();
  });
});
