import type { ModeSpec } from '@fixpoint/contracts/documents/protocol';
import { describe, expect, test } from '@jest/globals';
import { API, EpicPlay, slice, WEB } from './epics/epic.fixture.ts';
import { mode, ROOT, ref, verdict } from './lineage.fixture.ts';

const DAY_MS = 24 * 3_600_000;
const at = (hours: number): string => new Date(Date.UTC(2026, 0, 1, hours)).toISOString();

const atFloor = (more: Partial<ModeSpec> = {}, bounds: Partial<ModeSpec['bounds']> = {}): EpicPlay => {
  const play = new EpicPlay({ ...mode({ execute: 1, deadline_ms: 30 * DAY_MS, ...bounds }), ...more });
  play.submit();
  play.stall(ROOT).noSplit();
  return play;
};

/** The timer of an open handoff rings when it is due, however late it is by then. */
const ring = (play: EpicPlay, kind: 'warning' | 'expiry', unit = ROOT, now?: string): string[] => {
  const { handoff } = play.unitOf(unit);
  if (handoff === null) throw new Error('no handoff is open');
  const dueAt = kind === 'warning' ? handoff.warnAt : handoff.expiresAt;
  play.now = now ?? dueAt;
  return play.send({ type: 'timer_due', timer: { kind, task: unit, handoff: handoff.id, dueAt } });
};

const toTheEnd = (play: EpicPlay, unit = ROOT): string[] => {
  ring(play, 'warning', unit);
  ring(play, 'warning', unit);
  return ring(play, 'expiry', unit);
};

const ON_RETRY = { handoff_on_expiry: 'retry' } as const;
const ON_ABANDON = { handoff_on_expiry: 'abandon' } as const;

describe('D3 an open handoff', () => {
  test('warns after each declared share of its life, and says what comes next', () => {
    const play = atFloor();
    expect(ring(play, 'warning')).toEqual(['handoff_warned']);
    expect(play.last('handoff_warned')).toMatchObject({
      share: 50,
      expires_at: at(24),
      next_at: '2026-01-01T21:36:00.000Z',
    });
    expect(ring(play, 'warning')).toEqual(['handoff_warned']);
    expect(play.last('handoff_warned')).toMatchObject({ share: 90, expires_at: at(24), next_at: at(24) });
  });

  test('is as open as before when its time is over and it is to be kept, and says so once', () => {
    const play = atFloor();
    expect(toTheEnd(play)).toEqual(['handoff_expired']);
    expect(play.last('handoff_expired')).toMatchObject({ outcome: 'keep', declared: 'keep' });
    expect(play.unit.handoff?.id).toBe('r1.h1');
    expect(ring(play, 'expiry')).toEqual([]);
  });

  test('that nobody was warned of is not over: the warning comes first, and moves the end by what it promises', () => {
    const play = atFloor(ON_ABANDON);
    expect(ring(play, 'expiry', ROOT, at(100))).toEqual(['handoff_warned']);
    expect(play.last('handoff_warned')).toMatchObject({ share: 90, expires_at: '2026-01-05T06:24:00.000Z' });
    expect(ring(play, 'expiry')).toEqual(['handoff_expired', 'task_abandoned']);
  });

  test('without declared warnings ends unannounced', () => {
    const play = atFloor({ ...ON_ABANDON, handoff_warnings: [] });
    expect(ring(play, 'expiry')).toContain('handoff_expired');
  });

  test('does not end while somebody looks after it', () => {
    const play = atFloor(ON_ABANDON);
    ring(play, 'warning');
    ring(play, 'warning');
    play.now = at(23);
    const dueAt = at(24);
    const version = play.unit.handoff?.version ?? 0;
    play.send({ type: 'claim_handoff', handoff: 'r1.h1', version, actor: 'ada', forMs: DAY_MS });
    play.now = dueAt;
    expect(play.send({ type: 'timer_due', timer: { kind: 'expiry', task: ROOT, handoff: 'r1.h1', dueAt } })).toEqual(
      [],
    );
    expect(ring(play, 'expiry')).toContain('task_abandoned');
    expect(play.now).toBe(at(47));
  });

  test('is over once it was decided: a timer that comes second does nothing', () => {
    const play = atFloor(ON_ABANDON);
    const { handoff } = play.unit;
    play.send({
      type: 'decide_handoff',
      ...{ handoff: 'r1.h1', version: 1, decisionId: 'd1', decision: { kind: 'retry', from_node: null }, nodes: null },
      ...{ actor: 'ada', authenticated: 'api_key', signature: 'a.b.c', comment: null, commentArtifact: null },
    });
    const timer = { task: ROOT, handoff: 'r1.h1', dueAt: handoff?.expiresAt ?? '' };
    expect(play.send({ type: 'timer_due', timer: { kind: 'expiry', ...timer } })).toEqual([]);
  });

  test('that ran out can not be decided by whoever comes second', () => {
    const play = atFloor(ON_ABANDON);
    toTheEnd(play);
    expect(() => play.send({ type: 'claim_handoff', handoff: 'r1.h1', version: 1, actor: 'ada', forMs: 1 })).toThrow(
      'handoff_closed',
    );
  });
});

describe('a handoff that is to be tried again', () => {
  test('runs once more, as if a human had said so, and is back with a human when that does not help', () => {
    const play = atFloor(ON_RETRY);
    expect(toTheEnd(play)).toEqual(['handoff_expired', 'affinity_changed', 'node_ready']);
    expect(play.last('affinity_changed')).toMatchObject({ to: 0, reason: 'expired' });
    play.stall(ROOT).noSplit();
    expect(play.unit.handoff?.id).toBe('r1.h2');
  });

  test('H-B07 is kept the second time: it happens once in the life of a unit', () => {
    const play = atFloor(ON_RETRY);
    toTheEnd(play);
    play.stall(ROOT).noSplit();
    expect(toTheEnd(play)).toEqual(['handoff_expired']);
    expect(play.last('handoff_expired')).toMatchObject({ outcome: 'keep', declared: 'retry' });
  });

  test('is kept where a human could not ask for that either', () => {
    const play = new EpicPlay({ ...mode(), ...ON_RETRY });
    play.submit();
    play.judge([verdict('size', { severity: 'warning' })], { outcome: 'escalate' });
    expect(toTheEnd(play)).toEqual(['handoff_expired']);
    expect(play.last('handoff_expired').reason).toBe('this handoff allows no retry');
  });

  test('is kept after the deadline, when nothing starts any more', () => {
    const play = atFloor(ON_RETRY);
    play.deadline();
    expect(toTheEnd(play)).toEqual(['handoff_expired']);
  });
});

describe('a handoff that is to be given up', () => {
  test('ends its unit', () => {
    const play = atFloor(ON_ABANDON);
    expect(toTheEnd(play)).toEqual(['handoff_expired', 'task_abandoned']);
    expect(play.root.status).toBe('abandoned');
  });

  test('is kept over a child that is verified', () => {
    const play = new EpicPlay({ ...mode(), ...ON_ABANDON });
    play.submit();
    play.stall(ROOT).split(ROOT, [slice('api'), slice('web')]);
    play.done(API);
    play.on(WEB).gate('halt');
    expect(toTheEnd(play)).toEqual(['handoff_expired']);
    expect(play.last('handoff_expired')).toMatchObject({ outcome: 'keep', declared: 'abandon' });
    expect(play.root.status).toBe('superseded');
  });

  test('is kept where the work is verified, and only could not be merged', () => {
    const play = new EpicPlay({ ...mode({ integrate: 1 }), ...ON_ABANDON });
    play.submit();
    play.stall(ROOT).split(ROOT, [slice('api'), slice('web')]);
    play.good(API);
    play.on(API).end({ outcome: 'unmet', merge_conflicts: ['a'], workspace_ref: ref('merge') });
    expect(toTheEnd(play, API)).toEqual(['handoff_expired']);
    expect(play.task(API).status).toBe('open');
  });
});
