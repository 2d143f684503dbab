import { readFileSync } from 'node:fs';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { describe, expect, test } from '@jest/globals';
import { reasonsOfEvent, reasonsOfRun } from './reasons.ts';

const SAMPLES = new URL('../../../libs/contracts/samples/', import.meta.url);
const sample = (type: string, data: object = {}): RecordedEvent => {
  const event: RecordedEvent = JSON.parse(readFileSync(new URL(`${type}.v1.json`, SAMPLES), 'utf8'));
  return { ...event, data: { ...(event.data as object), ...data } };
};
const printed = (head: string, tail = '', truncated = false) => ({ hash: null, bytes: 1, head, tail, truncated });
const lint = { validator: 'lint', severity: 'blocker', error: false, justification: '1 finding\nin src/cart.ts' };
const good = { state: 'executed', outcome: 'satisfied', detail: 'it went well', verdicts: [] } as const;

describe('the reasons of a run', () => {
  test.each([
    ['unmet', { outcome: 'unmet', detail: 'exit 1\n\nno such file\n' }, ['| exit 1', '| no such file']],
    ['indeterminate', { outcome: 'indeterminate', detail: 'no make' }, ['| no make']],
    ['faulted', { state: 'faulted', outcome: null, detail: 'disk: full' }, ['| disk: full']],
    ['blocked', { state: 'blocked', outcome: null, detail: '', verdicts: [lint] }, ['lint: 1 finding in src/cart.ts']],
    ['objected to', { verdicts: [lint] }, ['| it went well', 'lint: 1 finding in src/cart.ts']],
  ] as const)('%s', (_, run, lines) => {
    expect(reasonsOfRun({ ...good, ...run, verdicts: [...('verdicts' in run ? run.verdicts : [])] })).toEqual(lines);
  });

  test('are none when it went well, whoever said so', () => {
    const passed = { ...lint, severity: 'pass' };
    expect(reasonsOfRun({ ...good, verdicts: [passed] })).toEqual([]);
    expect(reasonsOfRun({ ...good, verdicts: [{ ...passed, error: true }] })).toHaveLength(2);
  });

  test('S-T47 tell every warning and blocker, whatever the run came to, and no pass', () => {
    const verdicts = (['pass', 'warning', 'blocker'] as const).map((severity) => ({
      ...lint,
      severity,
      validator: severity,
    }));
    for (const outcome of ['satisfied', 'degraded'] as const) {
      const told = reasonsOfRun({ ...good, outcome, verdicts }).filter((line) => !line.startsWith('|'));
      expect(told.map((line) => line.split(':', 1)[0])).toEqual(['warning', 'blocker']);
    }
    const [whole] = (sample('post_validated').data as { verdicts: object[] }).verdicts;
    const passing = sample('post_validated', { verdicts: verdicts.map((each) => ({ ...whole, ...each })) });
    expect(reasonsOfEvent(passing).map((line) => line.split(':', 1)[0])).toEqual(['warning', 'blocker']);
  });

  test('are cut with a mark', () => {
    const verdicts = [{ ...lint, justification: 'b'.repeat(999) }];
    const [detail = '', objection = ''] = reasonsOfRun({
      ...good,
      outcome: 'unmet',
      detail: 'a'.repeat(999),
      verdicts,
    });
    expect(detail).toBe(`| ${'a'.repeat(299)}…`);
    expect(objection).toBe(`lint: ${'b'.repeat(199)}…`);
  });
});

describe('the reasons of an event', () => {
  test.each([
    ['tool_called', {}, ["| fatal: Unimplemented pathspec magic '_' in ':!__pycache__'"]],
    ['tool_called', { outcome: 'ok' }, []],
    ['tool_called', { stderr: printed(' \n'), stdout: printed('one\ntwo\n') }, ['| one', '| two']],
    ['tool_called', { stderr: printed('one\nt', 'wo') }, ['| one', '| two']],
    ['tool_called', { stderr: printed('one\n', 'wo', true) }, ['| wo']],
    ['tool_called', { outcome: 'denied', detail: 'No downloads', stderr: null, stdout: null }, ['| No downloads']],
    ['node_verified_action', {}, []],
    ['node_verified_action', { outcome: 'unmet', detail: 'exit 1' }, ['| exit 1']],
    ['governance_blocked', {}, ['commands: No downloads']],
    ['post_validated', {}, ['lint: 1 finding']],
    ['node_ready', {}, []],
  ])('%s %j', (type, data, lines) => {
    expect(reasonsOfEvent(sample(type, data))).toEqual(lines);
  });

  test('of a failing program are what it said last', () => {
    const [line = ''] = reasonsOfEvent(sample('tool_called', { stderr: printed(`${'a'.repeat(999)} the end`) }));
    expect([line.length, line.startsWith('| …a'), line.endsWith(' the end')]).toEqual([302, true, true]);
  });

  test('of a later release are none', () => {
    expect(reasonsOfEvent({ ...sample('post_validated'), type: 'node_praised' })).toEqual([]);
  });
});
