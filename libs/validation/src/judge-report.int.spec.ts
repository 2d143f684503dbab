import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReportCheck } from '@fixpoint/contracts/documents/protocol';
import { memoryArtifacts } from '@fixpoint/event-store/memory-artifacts';
import { hostRunner } from '@fixpoint/execution/process-runner';
import { DEFAULT_LIMITS } from '@fixpoint/execution/sandbox/limits';
import { noSandbox } from '@fixpoint/execution/sandbox/no-sandbox';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { judgeByReport } from './judge-report.ts';

// Real processes on a busy machine.
jest.setTimeout(30_000);

const artifacts = memoryArtifacts();
const nodeFolder = join(process.execPath, '..');

let top = '';
let copy = '';
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'fixpoint-report-'));
  copy = join(top, 'copy');
  mkdirSync(copy);
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

const judge = (check: ReportCheck, timeout_ms = 20_000) => {
  const path = `${nodeFolder}:${process.env.PATH ?? ''}`;
  const runner = hostRunner({ artifacts, folder: join(top, 'runner'), path, sandbox: noSandbox(path) });
  const confinement = { sandboxed: false, network: false, readable: [], limits: DEFAULT_LIMITS };
  return judgeByReport({ check, timeout_ms }, { runner, confinement, artifacts, folder: copy });
};

const CLEAN = '1..1\nok 1 - a\n';
const FAILED = '1..1\nnot ok 1 - a\n';
const tap = (report: string, then = '', more: Partial<ReportCheck> = {}) =>
  judge({ format: 'tap', command: `printf '${report.replaceAll('\n', '\\n')}'; ${then}`, ...more });

describe('a validator that reads the report of a tool', () => {
  test('believes the report, whatever the exit code says', async () => {
    expect(await tap(CLEAN)).toMatchObject({ answer: 'pass', output: expect.any(String) });
    expect(await tap(FAILED)).toMatchObject({ answer: 'fail', criteria: ['a'], findings: [{ rule: 'not_ok' }] });
    expect(await tap(FAILED, 'exit 1')).toMatchObject({ answer: 'fail', criteria: ['a'] });
  });

  test('takes an exit code that the report does not account for as an objection', async () => {
    expect(await tap(CLEAN, 'exit 3')).toMatchObject({ answer: 'fail', findings: [{ rule: 'exit_code' }] });
  });

  test.each([
    ['junit', 'src/a.test.mjs'],
    ['tap', 'src/a.test.mjs'],
  ] as const)('reads what a real runner writes as %s', async (format, file) => {
    mkdirSync(join(copy, 'src'));
    const body = "import t from 'node:test'; t('good', () => {}); t('bad', () => { throw new Error('boo'); });\n";
    writeFileSync(join(copy, file), body);
    const command = `node --test --test-reporter=${format} ${file}`;
    const answer = await judge({ format, command });
    expect(answer).toMatchObject({ answer: 'fail', findings: [{ message: expect.stringContaining('boo') }] });
    expect(answer).toMatchObject({ criteria: [expect.stringContaining('bad')] });
    writeFileSync(join(copy, file), body.replace("throw new Error('boo')", ''));
    expect(await judge({ format, command })).toMatchObject({ answer: 'pass' });
  });

  test('reads a report that is longer than what an event shows of it', async () => {
    const command = `node -e "console.log('1..5000'); for (let n = 1; n < 5001; n++) console.log(n === 2500 ? 'not ok' : 'ok', n)"`;
    expect(await judge({ format: 'tap', command })).toMatchObject({ answer: 'fail', findings: [{}] });
  });

  test('names many failed tests by their first ones and a hash of the others', async () => {
    const command = (last: string) =>
      `node -e "console.log('1..40'); for (let n = 1; n < 41; n++) console.log('not ok', n, '- t' + (n < 40 ? n : '${last}'))"`;
    const [one, other] = await Promise.all(['x', 'y'].map((last) => judge({ format: 'tap', command: command(last) })));
    const criteria = (answer: typeof one) => (answer?.answer === 'fail' ? answer.criteria : undefined);
    expect(criteria(one)).toHaveLength(20);
    expect(criteria(one)).not.toEqual(criteria(other));
  });

  test('reads the report from a file below its home, which is empty before and gone afterwards', async () => {
    const command = `ls -A "$HOME"; mkdir "$HOME/out"; printf '${FAILED}' > "$HOME/out/r.tap"`;
    const answer = await judge({ format: 'tap', command, file: 'out/r.tap' });
    expect(answer).toMatchObject({ answer: 'fail', output: null });
    expect(readdirSync(top).sort()).toEqual(['copy', 'runner']);
  });

  test.each<[string, Partial<ReportCheck> & { command: string }]>([
    ['is not there', { command: 'true', file: 'r.tap' }],
    ['lies in the workspace since before', { command: 'true', file: 'old.tap' }],
    ['is a link to somewhere else', { command: 'ln -s "$PWD/old.tap" "$HOME/r.tap"', file: 'r.tap' }],
    ['is in a folder that is a link', { command: 'ln -s "$PWD" "$HOME/out"', file: 'out/old.tap' }],
    ['is a pipe', { command: 'mkfifo "$HOME/r.tap"', file: 'r.tap' }],
    ['is too long', { command: `printf '${CLEAN}' > "$HOME/r.tap"; truncate -s 9M "$HOME/r.tap"`, file: 'r.tap' }],
    ['is too long on its way', { command: `printf '${CLEAN}'; head -c 9437184 /dev/zero` }],
    ['is empty', { command: 'true' }],
    ['is garbled', { command: 'echo all fine' }],
    ['is garbled, and the tool failed', { command: 'echo it broke; exit 2' }],
    ['is of another format', { command: `printf '${CLEAN}'`, format: 'sarif' }],
  ])('says nothing by a report that %s', async (_, check) => {
    writeFileSync(join(copy, 'old.tap'), CLEAN);
    expect(await judge({ format: 'tap', ...check })).toMatchObject({
      answer: 'fault',
      class: 'internal',
      detail: expect.stringMatching(/report can not be read/),
    });
  });

  test.each([
    ['is not found', 'no-such-tool', 'internal'],
    ['is killed', 'kill -9 $$', 'internal'],
    ['takes too long', 'sleep 60', 'run_timeout'],
  ])('S-T70: says nothing by a tool that %s, though a report is there', async (_, command, faultClass) => {
    const check = { format: 'tap', command: `printf '${CLEAN}'; ${command}` } as const;
    expect(await judge(check, 1000)).toMatchObject({ answer: 'fault', class: faultClass });
  });
});
