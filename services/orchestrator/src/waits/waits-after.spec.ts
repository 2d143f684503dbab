import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { describe, expect, test } from '@jest/globals';
import { type LineageWaits, NO_WAITS } from './wait-rows.ts';
import { waitsAfter } from './waits-after.ts';

const AT = '2026-01-01T00:00:00.000Z';
let version = 0;
const event = (type: string, data: object, stream = 'lineage-r'): RecordedEvent => {
  version += 1;
  const cursor = { epoch: 1, xid: '1', position: String(version) };
  const metadata = { causation_id: 'c', correlation_id: 'r', producer: 'p', actor: 'a' };
  return {
    id: `e${version}`,
    type,
    schema_version: 1,
    data,
    metadata,
    occurred_at: AT,
    root: 'r',
    stream,
    version,
    cursor,
    hash: '',
  };
};

const waitsFor = (...events: readonly RecordedEvent[]): LineageWaits => events.reduce(waitsAfter, NO_WAITS);
const kinds = (waits: LineageWaits): Record<string, string> =>
  Object.fromEntries(Object.entries(waits.waiting).map(([task, row]) => [task, row.kind]));

const submitted = event('task_submitted', { task: 'r', deadline_at: '2026-01-02T00:00:00.000Z' });
const ready = (task = 'r', run = 1) => event('node_ready', { task, run });
const passed = event('governance_passed', { task: 'r', run: 1 }, 'gate-r-1');
const started = event('action_started', { task: 'r', run: 1 }, 'action-r-1');
const ended = (outcome: string, firewall_broken: string | null = null) =>
  event('node_verified_action', { task: 'r', run: 1, outcome, firewall_broken }, 'action-r-1');

test('F7 a time that is none makes no timer: rows with it could not be written, and nobody would be waited for any more', () => {
  const [undated, dated] = ['when it suits', '2026-01-01T00:00:05.000Z'].map((next_at) =>
    waitsFor(submitted, ready(), event('fault_recorded', { task: 'r', run: 1, next_at })),
  );
  expect(Object.keys(undated?.timers ?? {})).toEqual(['r:deadline']);
  expect(Object.keys(dated?.timers ?? {})).toEqual(['r:deadline', 'r:retry:1']);
});

describe('a unit with children', () => {
  const split = event('epic_opened', { task: 'r', ended_tasks: [] });

  test('waits for them, is looked at now and then, and they for their own', () => {
    const waits = waitsFor(ready(), split, ready('r.1'), ready('r.2'));
    expect(kinds(waits)).toEqual({ r: 'epic', 'r.1': 'gate', 'r.2': 'gate' });
    expect(waits.waiting.r?.next_at).toBe('2026-01-01T00:10:00.000Z');
  });

  test('that is done waits for its turn to be merged', () => {
    expect(kinds(waitsFor(ready('r.1'), event('node_completed', { task: 'r.1', run: 1 })))).toEqual({ 'r.1': 'epic' });
  });

  test('waits for time when a recompose has failed, and for nothing when none will follow', () => {
    const failed = (next_at: string | null) => event('recompose_failed', { task: 'r', attempt: 2, next_at });
    const again = waitsFor(ready(), failed('2026-01-01T00:04:00.000Z'));
    expect(again.timers).toMatchObject({ 'r:recompose:2': { kind: 'recompose', number: 2 } });
    expect(waitsFor(ready(), failed(null)).timers).toEqual({});
    expect(waitsFor(ready(), failed('2026-01-01T00:04:00.000Z'), ready('r', 2)).timers).toEqual({});
  });

  test('that a human has stops none of the others', () => {
    const human = event('human_required', { task: 'r.1', run_open: false });
    const waits = waitsFor(ready('r.1'), ready('r.1.f1'), ready('r.2'), ready('r.1.1'), human);
    expect(kinds(waits)).toEqual({ 'r.1': 'human', 'r.1.f1': 'human', 'r.2': 'gate', 'r.1.1': 'gate' });
  });
});

describe('what a lineage waits for', () => {
  test.each([
    ['its gate', [ready()], 'gate'],
    ['its executor', [ready(), passed], 'action'],
    ['the end of a run that has started', [ready(), passed, started], 'action'],
    ['the judgement of a good result', [ready(), passed, ended('satisfied')], 'judge'],
    ['this service after any other result', [ready(), passed, ended('unmet')], 'decide'],
    ['this service after a broken firewall', [ready(), passed, ended('satisfied', 'ci.yml')], 'decide'],
    [
      'this service after a judgement',
      [ready(), ended('satisfied'), event('post_validated', { task: 'r', run: 1 })],
      'decide',
    ],
    [
      'this service after a refusal of its gate',
      [ready(), event('governance_blocked', { task: 'r', run: 1 })],
      'decide',
    ],
    ['time', [ready(), event('fault_recorded', { task: 'r', run: 1, phase: 'gate', next_at: AT })], 'timer'],
    ['the council', [ready(), event('decomposition_requested', { task: 'r', request: 1 })], 'council'],
    [
      'this service after the council',
      [event('decomposition_requested', { task: 'r', request: 1 }), event('split_decided', { task: 'r', request: 1 })],
      'decide',
    ],
    [
      'this service after a council that could not be asked',
      [
        event('decomposition_requested', { task: 'r', request: 1 }),
        event('council_faulted', { task: 'r', request: 1 }),
      ],
      'decide',
    ],
    ['a human', [ready(), event('human_required', { task: 'r', run_open: false })], 'human'],
    [
      'a human after an answer with which nothing begins',
      [ready(), ended('unmet'), event('run_counted', { task: 'r', run: 1, next_at: null })],
      'human',
    ],
  ])('is %s', (_name, events, kind) => {
    expect(kinds(waitsFor(...events))).toEqual({ r: kind });
  });

  test('is its fix while that runs, and nothing of the fix once it has ended', () => {
    const spawned = event('subtask_spawned', { parent_ref: 'r', task_ref: 'r.f1' });
    expect(kinds(waitsFor(ready(), spawned, ready('r.f1')))).toEqual({ r: 'fix', 'r.f1': 'gate' });
    const end = event('task_completed', { task: 'r.f1' });
    expect(kinds(waitsFor(ready(), spawned, ready('r.f1'), end, ready('r', 2)))).toEqual({ r: 'gate' });
    const exhausted = event('recovery_exhausted', { task: 'r', ended_tasks: ['r.f1'] });
    expect(kinds(waitsFor(ready(), spawned, ready('r.f1'), exhausted))).toEqual({ r: 'fix' });
  });

  test('does not change with an answer about another run', () => {
    const late = event('governance_passed', { task: 'r', run: 1 });
    expect(kinds(waitsFor(ready('r', 1), ready('r', 2), late))).toEqual({ r: 'gate' });
  });

  test('names the event that nobody has answered', () => {
    const first = ready();
    expect(waitsFor(first).waiting.r).toMatchObject({
      stream: 'lineage-r',
      version: first.version,
      next_at: '2026-01-01T00:00:05.000Z',
    });
    expect(waitsFor(first, passed).waiting.r).toMatchObject({
      stream: 'gate-r-1',
      version: passed.version,
      ready_version: first.version,
    });
    expect(waitsFor(first, passed, started).waiting.r).toMatchObject({ stream: 'gate-r-1', started: true });
  });

  test('with a human is not looked at; what goes on beside is healed as before', () => {
    const before = waitsFor(ready());
    const beside = waitsAfter(before, event('human_required', { task: 'r', run_open: true }));
    expect(beside).toEqual(before);
    expect(waitsAfter(beside, event('handoff_updated', { task: 'r', run_open: true }))).toEqual(before);
    expect(kinds(waitsAfter(beside, passed))).toEqual({ r: 'action' });
    const given = waitsFor(ready(), event('human_required', { task: 'r', run_open: false }));
    expect(kinds(waitsAfter(given, passed))).toEqual({ r: 'human' });
  });

  test.each(['task_completed', 'task_blocked'])('is nothing after %s of the root', (type) => {
    expect(waitsFor(submitted, ready(), event(type, { task: 'r' }))).toEqual(NO_WAITS);
  });

  test('is not changed by what cannot be read', () => {
    const waits = waitsFor(ready());
    expect(waitsAfter(waits, event('node_ready', { task: 7 }))).toBe(waits);
    expect(waitsAfter(waits, event('unheard_of', {}))).toBe(waits);
  });

  test('changes nothing when told the same twice', () => {
    const events = [submitted, ready(), passed, started];
    expect(events.concat(events.slice(-1)).reduce(waitsAfter, NO_WAITS)).toEqual(waitsFor(...events));
  });
});

describe('the timers of a lineage', () => {
  test('are its deadline from the start until it has passed', () => {
    expect(Object.keys(waitsFor(submitted).timers)).toEqual(['r:deadline']);
    expect(waitsFor(submitted, event('deadline_passed', { task: 'r' })).timers).toEqual({});
  });

  test.each([
    ['fault_recorded', { phase: 'action' }],
    ['run_counted', {}],
  ])('are the retry that %s announces, until the run follows', (type, more) => {
    const fault = event(type, { task: 'r', run: 1, next_at: AT, ...more });
    expect(waitsFor(ready(), fault).timers['r:retry:1']).toMatchObject({
      kind: 'retry',
      task: 'r',
      number: 1,
      due_at: AT,
    });
    expect(waitsFor(ready(), fault, ready('r', 2)).timers).toEqual({});
  });

  test('are the next request after a council that did not answer', () => {
    const asked = event('decomposition_requested', { task: 'r', request: 2 });
    const silent = event('fault_recorded', { task: 'r', run: 9, phase: 'council', next_at: AT });
    expect(waitsFor(asked, silent).timers['r:request:2']).toMatchObject({ kind: 'request', number: 2 });
  });

  test('but its deadline are gone once a human has it', () => {
    const fault = event('fault_recorded', { task: 'r', run: 1, phase: 'gate', next_at: AT });
    const human = event('human_required', { task: 'r', run_open: false });
    expect(Object.keys(waitsFor(submitted, ready(), fault, human).timers)).toEqual(['r:deadline']);
  });
});

test('more time moves the one deadline of a lineage; more of something else does not', () => {
  const more = (deadline_at: string | null) => event('budget_extended', { task: 'r.1', deadline_at });
  const later = '2026-01-03T00:00:00.000Z';
  expect(Object.values(waitsFor(submitted, more(later)).timers)).toMatchObject([{ task: 'r', due_at: later }]);
  expect(waitsFor(submitted, more(null)).timers).toEqual(waitsFor(submitted).timers);
});

describe('the timers of a handoff', () => {
  const [warnAt, nextAt, endAt, laterAt] = ['03', '05', '06', '07'].map((day) => `2026-01-${day}T00:00:00.000Z`);
  const about = { task: 'r', handoff: 'r.h2' };
  const human = (warn_at = warnAt, run_open = false) =>
    event('human_required', { ...about, warn_at, expires_at: endAt, run_open });
  const lifeOf = (...events: readonly RecordedEvent[]): unknown =>
    Object.values(waitsFor(submitted, ready(), ...events).timers)
      .filter(({ kind }) => kind === 'warning' || kind === 'expiry')
      .map(({ kind, number, due_at }) => [kind, number, due_at])
      .sort();

  test('D3 are its first warning and its end', () => {
    expect(lifeOf(human())).toEqual([
      ['expiry', 2, endAt],
      ['warning', 2, warnAt],
    ]);
    expect(lifeOf(human(endAt))).toEqual([['expiry', 2, endAt]]);
  });

  test('are the next warning once one was given, and then the end alone', () => {
    const warned = (next_at = nextAt) => event('handoff_warned', { ...about, next_at, expires_at: endAt });
    expect(lifeOf(human(), warned())).toEqual([
      ['expiry', 2, endAt],
      ['warning', 2, nextAt],
    ]);
    expect(lifeOf(human(), warned(), warned(endAt))).toEqual([['expiry', 2, endAt]]);
  });

  test('are other ones when the end moves, so that whoever rang the old one removes none of them', () => {
    const claimed = event('handoff_claimed', { ...about, expires_at: laterAt });
    const ids = (...events: readonly RecordedEvent[]): string[] =>
      Object.values(waitsFor(...events).timers).flatMap(({ id, kind }) => (kind === 'expiry' ? [id] : []));
    expect(lifeOf(human(), claimed)).toContainEqual(['expiry', 2, laterAt]);
    expect(ids(human(), claimed)).not.toEqual(ids(human()));
  });

  test('stay whatever runs or is added beside it', () => {
    const beside = [ready('r', 2), event('handoff_updated', { ...about, run_open: false })];
    expect(lifeOf(human(warnAt, true), ...beside)).toEqual(lifeOf(human()));
  });

  test.each(['human_decided', 'handoff_withdrawn', 'handoff_expired'])('are gone with %s', (type) => {
    expect(lifeOf(human(), event(type, about))).toEqual([]);
  });
});
