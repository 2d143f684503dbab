import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Handoff } from '@fixpoint/contracts/rest/audit-handoffs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { commandLine } from '../command-line.fixture.ts';

const AT = '2026-01-01T00:00:00.000Z';
const cause = { help: 'cannot_act', stage: 'floor', halt_type: 'unmet', raw_halt_type: 'execute' } as const;
const row: Handoff = {
  ...{ handoff: 'r1.h1', lineage: 'r1', task: 'r1', address: '0', project: 'shop', status: 'open', version: 2 },
  ...{ ...cause, detail: 'it is not there', causes: [{ ...cause, detail: 'it is not there' }] },
  ...{ slice_task: 'r1', node: 'commit', run: 3, goal: 'all is committed', runs: 3, fix_attempts: 0 },
  ...{ money_micros: 1_250_000, tokens: 300, duration_ms: 61_000, lineage_runs: 4, decisions: ['retry', 'abandon'] },
  ...{ claimed: true, claimed_by: 'ada', claimed_until: AT, warned: 50, expires_at: AT, on_expiry: 'keep' },
  ...{ expired_at: null, decision: null, closed_by: null, opened_at: AT, closed_at: null, cursor: '1.2.3' },
};
const sample = new URL('../../../libs/contracts/samples/human_required.v2.json', import.meta.url);
const request: unknown = JSON.parse(readFileSync(sample, 'utf8'));
const OF_PROVIDER = { handoff: 'provider-git.x', lineage: 'provider-git.x', task: 'git.x', expires_at: null };

let server: Server;
let url = '';
const asked: string[] = [];

const answer = (path: string): readonly [number, unknown] => {
  if (path.includes('gone')) return [404, { code: 'handoff_unknown', detail: 'there is none', diagnostics: [] }];
  if (path.endsWith('/claim')) {
    const claimed = { handoff: 'r1.h1', lineage: 'r1', version: 3, by: 'ada', until: AT, expires_at: AT };
    return [200, { ...claimed, changed: true, cursor: '1.2.3' }];
  }
  if (path.endsWith('/decisions')) return [409, { code: 'handoff_claimed', detail: 'by ada', diagnostics: [] }];
  if (path.endsWith('/provider-git.x')) return [200, { ...row, ...OF_PROVIDER, history: [request] }];
  return [200, path.includes('?') ? { items: [row], next: null } : { ...row, history: [request] }];
};

const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
  let body = '';
  for await (const chunk of incoming) body += String(chunk);
  asked.push(`${incoming.method} ${incoming.url} ${body}`.trim());
  const [status, value] = answer(incoming.url ?? '');
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
};

beforeAll(async () => {
  server = createServer((incoming, response) => void serve(incoming, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => void asked.splice(0));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const fixpoint = (...args: readonly string[]) => commandLine(args, { env: { FIXPOINT_URL: url } });

describe('handoffs', () => {
  test('lists what is open where nothing else is said, and what is filtered for', async () => {
    const { code, stdout } = await fixpoint('handoffs');
    expect([code, stdout]).toEqual([0, expect.stringContaining('r1.h1    open    cannot_act  shop')]);
    const filters = ['--status', 'all', '--project', 'shop', '--needs', 'budget', '--no-claimed', '--json'];
    expect(await fixpoint('handoffs', 'list', ...filters)).toMatchObject({ stdout: `${JSON.stringify(row)}\n` });
    expect(asked).toEqual([
      'GET /v1/audit/handoffs?status=open&limit=500',
      'GET /v1/audit/handoffs?claimed=false&project=shop&help=budget&limit=500',
    ]);
  });

  test('shows what is asked, what was tried and spent, and what may be decided', async () => {
    const { code, stdout } = await fixpoint('handoffs', 'show', 'r1.h1');
    expect(code).toBe(0);
    for (const text of [
      ...[
        'r1.h1  open  version 2',
        'needs: cannot_act (floor, execute)',
        '| it is not there',
        'tried: 3 runs, 0 fixes',
      ],
      ...[
        'cost so far: 1.25 in money, 300 tokens, 61 s, 4 runs',
        'ada looks after it until',
        'decide r1.h1 retry | abandon',
      ],
    ]) {
      expect(stdout).toContain(text);
    }
  });

  test('shows a provider that waits for somebody, and who ends that', async () => {
    const { stdout } = await fixpoint('handoffs', 'show', 'provider-git.x');
    expect(stdout.trimEnd().split('\n')).toEqual([
      ...[
        'provider-git.x  open  version 2',
        'provider git.x: what needs it waits',
        'needs: cannot_act (floor, execute)',
      ],
      ...['| it is not there', 'it stays until somebody decides'],
      ...['2026-01-15T09:30:00.000Z  human_required  by local', 'now: fixpoint providers resume git.x'],
    ]);
  });

  test('claims the version that there is, or the one that was seen', async () => {
    expect(await fixpoint('handoffs', 'claim', 'r1.h1')).toMatchObject({
      stdout: `r1.h1: ada looks after it until ${AT}\n`,
    });
    await fixpoint('handoffs', 'claim', 'r1.h1', '--for', '60', '--seen', '7');
    expect(asked).toEqual([
      'GET /v1/audit/handoffs/r1.h1',
      'POST /v1/handoffs/r1.h1/claim {"version":2,"for_ms":3600000}',
      'POST /v1/handoffs/r1.h1/claim {"version":7,"for_ms":60000}',
    ]);
  });

  test('one that is not known is exit code 5', async () => {
    const { code, stderr } = await fixpoint('handoffs', 'show', 'gone');
    expect([code, stderr]).toEqual([5, expect.stringContaining('handoff_unknown')]);
  });

  test.each([[['--status', 'lost']], [['--needs', 'money']], [['show']], [['claim', 'x', '--for', 'ever']]])(
    '%j is said to be wrong, exit code 2',
    async (args) => {
      expect(await fixpoint('handoffs', ...args)).toMatchObject({ code: 2, stdout: '' });
    },
  );
});

test('a decision is about the newest version, and tells who stands against it', async () => {
  const { code, stderr } = await fixpoint('decide', 'r1.h1', 'retry');
  expect([code, stderr]).toEqual([5, expect.stringContaining('handoff_claimed')]);
  expect(asked.at(-1)).toBe('POST /v1/handoffs/r1.h1/decisions {"version":2,"decision":{"kind":"retry"}}');
});
