import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryArtifacts } from '@fixpoint/event-store/memory-artifacts';
import { hostRunner } from '@fixpoint/execution/process-runner';
import { DEFAULT_LIMITS } from '@fixpoint/execution/sandbox/limits';
import { noSandbox } from '@fixpoint/execution/sandbox/no-sandbox';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { judgeByCommand } from './judge-command.ts';

// Real processes and real git on a busy machine.
jest.setTimeout(30_000);

const artifacts = memoryArtifacts();
const PATH = process.env.PATH ?? '';

let top = '';
beforeAll(() => {
  top = mkdtempSync(join(tmpdir(), 'fixpoint-judge-'));
});
afterAll(() => rmSync(top, { recursive: true, force: true }));

const judge = (command: string, more: { timeout_ms?: number; signal?: AbortSignal } = {}) =>
  judgeByCommand(
    { check: { command }, timeout_ms: more.timeout_ms ?? 10_000 },
    {
      runner: hostRunner({ artifacts, folder: join(top, 'runner'), path: PATH, sandbox: noSandbox(PATH) }),
      confinement: { sandboxed: false, network: false, readable: [], limits: DEFAULT_LIMITS },
      artifacts,
      folder: top,
      ...(more.signal === undefined ? {} : { signal: more.signal }),
    },
  );

describe('a validator that is a command', () => {
  test('passes with exit code 0 and keeps its output', async () => {
    const answer = await judge('echo fine');
    expect(answer).toMatchObject({ answer: 'pass', output: expect.any(String) });
    const kept = answer.answer === 'pass' ? await artifacts.get(answer.output ?? '') : null;
    expect(kept && Buffer.concat(await Array.fromAsync(kept)).toString()).toBe('fine\n');
  });

  test('objects with any other one, with its findings and what it said', async () => {
    const printed = JSON.stringify({ findings: [{ rule: 'r', path: `${top}/a.js`, line: 1 }] });
    expect(await judge(`echo '${printed}'; echo why >&2; exit 3`)).toMatchObject({
      answer: 'fail',
      findings: [{ rule: 'r', path: 'a.js', line: 1 }],
      justification: expect.stringMatching(/^exit code 3\n.*\nwhy$/s),
    });
  });

  test('may print more findings than an event shows', async () => {
    const script = `for (const f of [Array.from({length: 2000}, (_, line) => ({rule: 'r', path: 'a.js', line: line + 1}))])
      console.log(JSON.stringify({findings: f})); process.exitCode = 1`;
    const answer = await judge(`node -e "${script}"`);
    expect(answer.answer === 'fail' && answer.findings?.length).toBe(2000);
  });

  test.each([
    ['is not found', 'no-such-linter --strict', {}, 'internal'],
    ['is killed', 'kill -9 $$', {}, 'internal'],
    ['takes too long', 'sleep 60', { timeout_ms: 200 }, 'run_timeout'],
    ['is cancelled', 'sleep 60', { signal: AbortSignal.abort() }, 'shutdown'],
  ])('S-T70: that %s has said nothing', async (_, command, more, faultClass) => {
    expect(await judge(command, more)).toMatchObject({ answer: 'fault', class: faultClass });
  });
});
