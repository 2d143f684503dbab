import { describe, expect, test } from '@jest/globals';
import { audited } from './audited-event.ts';
import { foldRows } from './fold-rows.ts';
import {
  at,
  blocked,
  completed,
  exhausted,
  humanRequired,
  recorded,
  repaired,
  runOf,
  spawned,
  submitted,
  type Told,
  telling,
  verified,
  withdrawn,
} from './history.fixture.ts';
import { type LineageRow, lineageRules } from './lineages.ts';

const rowsOf = (told: readonly Told[], before: ReadonlyMap<string, LineageRow> = new Map()) =>
  foldRows(lineageRules, before, recorded(told).map(audited));

const rowAfter = (...events: readonly { type: string; data: unknown; schema_version?: number }[]) => {
  const { told, tell } = telling();
  tell('lineage-r1', 'r1', submitted('r1'));
  for (const event of events) tell('lineage-r1', 'r1', event);
  return rowsOf(told).get('r1');
};

describe('lineage row', () => {
  test('adds up what models of its runs and its councils used, also onto a row that was read', () => {
    const cost = { duration_ms: 1, money_micros: 700, tokens: 150 };
    const { told, tell } = telling();
    tell('lineage-r1', 'r1', submitted('r1'));
    const row = rowsOf(told).get('r1');
    if (row === undefined) throw new Error('no row');
    // As pg reads a bigint.
    const read = { ...row, money_micros: '700', tokens: '150' } as unknown as LineageRow;
    const asked = { root: 'r1', task: 'r1', address: '0', request: 1 };
    const decided = { should_decompose: false, reason: 'no', confidence: 'high', adapter: 'wise', spent: cost };
    const faulted = { class: 'network', retry_after_ms: 0, detail: '', spent: cost };
    tell('action-r1-1', 'r1', verified(runOf('r1', 'r1', 1), { spent: cost }));
    tell('council-r1-1', 'r1', { type: 'split_decided', schema_version: 2, data: { ...asked, ...decided } });
    tell('council-r1-2', 'r1', { type: 'council_faulted', data: { ...asked, request: 2, ...faulted } });
    expect(
      foldRows(lineageRules, new Map([['r1', read]]), recorded(told).slice(1).map(audited)).get('r1'),
    ).toMatchObject({ money_micros: 2_800, tokens: 600 });
  });

  test('begins with the submission', () => {
    expect(rowAfter()).toMatchObject({
      lineage: 'r1',
      project: 'web-shop',
      mode: 'build',
      name: 'commit-deps',
      labels: { team: 'web' },
      status: 'running',
      rung: 'none',
      events: 1,
      runs: 0,
      started_at: at(0),
      ended_at: null,
      protocol_name: 'default',
      protocol_version: 1,
    });
  });

  test('shows depth, fix attempts, runs, and every event of the lineage whatever its stream', () => {
    const telling1 = telling();
    const events = repaired('r1', telling1).length;
    expect(rowsOf(telling1.told).get('r1')).toMatchObject({
      status: 'completed',
      depth: 1,
      fix_attempts: 1,
      runs: 3,
      events,
      rung: 'recipe',
      ended_at: at(events - 1),
      cursor: `1.${700 + events - 1}.${events}`,
    });
  });

  test.each([
    ['completed', completed('r1', 'r1'), 'completed'],
    ['degraded', completed('r1', 'r1', 'degraded'), 'degraded'],
    ['blocked', blocked('r1', 'r1'), 'blocked'],
  ])('ends %s', (_name, event, status) => {
    expect(rowAfter(event)).toMatchObject({ status, ended_at: at(1) });
  });

  test('names what stopped it', () => {
    expect(rowAfter(blocked('r1', 'r1'))).toMatchObject({ halt_type: 'blocker', raw_halt_type: 'secrets' });
  });

  test('does not end with one of its fixes', () => {
    expect(rowAfter(completed('r1', 'r1.f1'))).toMatchObject({ status: 'running', ended_at: null });
    expect(rowAfter(blocked('r1', 'r1.f1'))).toMatchObject({ status: 'running', halt_type: null });
  });

  test('waits for a human without having ended', () => {
    expect(rowAfter(exhausted('r1', []), humanRequired('r1'))).toMatchObject({
      status: 'human',
      halt_type: 'recovery_exhausted',
      ended_at: null,
    });
  });

  test('runs on when the handoff is withdrawn, but stays ended when it had ended', () => {
    expect(rowAfter(humanRequired('r1'), withdrawn('r1'))).toMatchObject({ status: 'running', halt_type: null });
    expect(rowAfter(humanRequired('r1'), completed('r1', 'r1'), withdrawn('r1'))).toMatchObject({
      status: 'completed',
    });
  });

  test('keeps the deepest fix and the highest rung', () => {
    const deep = spawned('r1', 2, { depth: 3, fix_attempts: 2 });
    const row = rowAfter(
      deep,
      spawned('r1', 3),
      verified(runOf('r1', 'r1', 1), { rung: 'self_repair' }),
      verified(runOf('r1', 'r1', 2)),
    );
    expect(row).toMatchObject({ depth: 3, fix_attempts: 3, rung: 'self_repair' });
  });

  test('S-B06 counts an event that nobody here can read, and goes on behind it', () => {
    const unknown = { type: 'from_the_future', data: { task: 'r1' } };
    const newer = { ...completed('r1', 'r1'), schema_version: 9 };
    const garbled = { type: 'task_completed', data: { task: 'r1' } };
    expect(rowAfter(unknown, newer, garbled, blocked('r1', 'r1'))).toMatchObject({ events: 5, status: 'blocked' });
  });

  test('is the same when its history is fed twice', () => {
    const telling1 = telling();
    repaired('r1', telling1);
    const once = rowsOf(telling1.told);
    expect(rowsOf(telling1.told, once)).toEqual(new Map());
  });

  test('counts a dead letter to the lineage it concerns', () => {
    const { told, tell } = telling();
    tell('lineage-r1', 'r1', submitted('r1'));
    const data = {
      service: 'validator',
      reader: 'validator__gate',
      event_id: 'e',
      event_type: 'node_ready',
      event_version: 1,
      root: 'r1',
      task: 'r1',
      run: 1,
      deliveries: 5,
      reason: 'unreadable',
    };
    tell('dead-validator', 'dead-validator', { type: 'dead_lettered', data });
    tell('dead-validator', 'dead-validator', { type: 'dead_lettered', data: { ...data, root: null } });
    expect([...rowsOf(told).values()].map(({ lineage, events }) => [lineage, events])).toEqual([['r1', 2]]);
  });
});
