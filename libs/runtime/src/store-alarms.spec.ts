import { CURSOR_START, type Cursor } from '@fixpoint/contracts/envelope';
import type { ReaderPosition } from '@fixpoint/event-store/reader-positions';
import type { Watermark, WatermarkHolder } from '@fixpoint/event-store/watermark';
import { describe, expect, test } from '@jest/globals';
import {
  NO_MEMORY,
  remembered,
  type StoreMeasure,
  type StoreMemory,
  storeAlarms,
  watermarkAgeMs,
} from './store-alarms.ts';

const ALARM_MS = 10_000;

const at = (position: number): Cursor => ({ epoch: 1, xid: String(position), position: String(position) });

const session: WatermarkHolder = {
  xid: '740',
  pid: 4711,
  prepared: null,
  database: 'reports',
  user: 'ann',
  application: 'psql',
  state: 'idle in transaction',
  since: '2026-01-02T03:04:05.006Z',
};

const mark = (change: Partial<Watermark> = {}): Watermark => ({
  ...{ visible: at(9), newest: at(9), ageMs: 0, holder: null },
  ...change,
});

const reader = (change: Partial<ReaderPosition> = {}): ReaderPosition => ({
  ...{ name: 'auditor__read_model', cursor: at(5), lagMs: 0, isKept: true },
  ...change,
});

/** Measures one after the other. @returns what the last one came to */
const after = (...measures: readonly Partial<StoreMeasure>[]): { measure: StoreMeasure; memory: StoreMemory } => {
  let memory = NO_MEMORY;
  let measure: StoreMeasure = { watermark: mark(), positions: [], atMs: 0 };
  for (const each of measures) {
    measure = { watermark: mark(), positions: [], atMs: 0, ...each };
    memory = remembered(memory, measure);
  }
  return { memory, measure };
};

const alarmsAfter = (...measures: readonly Partial<StoreMeasure>[]): readonly string[] => {
  const { memory, measure } = after(...measures);
  return storeAlarms(memory, measure, ALARM_MS).map(({ text }) => text);
};

describe('the watermark', () => {
  test('P07: is measured by the oldest hidden event, whatever its readers say of themselves', () => {
    const hidden = mark({ newest: at(20), ageMs: 12_300, holder: session });
    const [text] = alarmsAfter({ watermark: hidden, positions: [reader({ cursor: at(9), lagMs: 0 })] });
    expect(text).toBe(
      'the watermark has stood still for 12.3 s: stored events are hidden from every reader, held by pid 4711 (psql, ' +
        'database reports, user ann, idle in transaction, transaction open since 2026-01-02T03:04:05.006Z)',
    );
  });

  test('P07: of an idle store is measured by the transaction that holds it, before anything is hidden', () => {
    const held = mark({ holder: session });
    const { memory, measure } = after({ watermark: held, atMs: 1_000 }, { watermark: held, atMs: 11_500 });
    expect(watermarkAgeMs(memory, measure)).toBe(10_500);
    expect(alarmsAfter({ watermark: held, atMs: 1_000 }, { watermark: held, atMs: 11_500 })[0]).toContain(
      'whatever is stored next will be hidden from every reader, held by pid 4711',
    );
  });

  test('is well when one short transaction follows the other', () => {
    const held = (xid: string) => mark({ holder: { ...session, xid } });
    const measures = Array.from({ length: 20 }, (_, round) => ({ watermark: held(`${round}`), atMs: round * 2_000 }));
    expect(alarmsAfter(...measures)).toEqual([]);
  });

  test('is well again as soon as nobody holds it', () => {
    const held = mark({ holder: session });
    expect(alarmsAfter({ watermark: held, atMs: 0 }, { watermark: held, atMs: 60_000 }, { atMs: 60_001 })).toEqual([]);
  });

  test('names a prepared transaction, and one that nobody may see', () => {
    const nobody = { pid: null, database: null, user: null, application: null, state: null, since: null };
    const prepared = { ...session, ...nobody, prepared: 'left over', database: 'reports', user: 'ann' };
    const textOf = (holder: WatermarkHolder) => alarmsAfter({ watermark: mark({ ageMs: 60_000, holder }) })[0];
    expect(textOf(prepared)).toContain('prepared transaction left over (database reports, user ann');
    expect(textOf({ ...session, ...nobody })).toContain(
      'transaction 740, which has ended meanwhile or which this role',
    );
  });
});

describe('a reader', () => {
  test('A10: that does not move while events wait for it is an alarm', () => {
    const stands = (atMs: number) => ({ positions: [reader({ lagMs: atMs, isKept: false })], atMs });
    expect(alarmsAfter(stands(0), stands(9_000))).toEqual([]);
    expect(alarmsAfter(stands(0), stands(9_000), stands(11_000))).toEqual([
      'auditor__read_model does not move and is 11.0 s behind; no process keeps it',
    ]);
  });

  test('that is far behind and moves is catching up', () => {
    const moves = (atMs: number) => ({ positions: [reader({ cursor: at(atMs), lagMs: 3_600_000 })], atMs });
    expect(alarmsAfter(moves(0), moves(9_000), moves(18_000), moves(27_000))).toEqual([]);
  });

  test('that has nothing to do may stand for ever', () => {
    const idle = (atMs: number) => ({ positions: [reader({ cursor: CURSOR_START })], atMs });
    expect(alarmsAfter(idle(0), idle(1_000_000))).toEqual([]);
  });
});
