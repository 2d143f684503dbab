import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { audited } from './audited-event.ts';
import { type CursorRow, foldRows, type RowRules, rowsJson, touchedKeys } from './fold-rows.ts';
import { recorded, telling } from './history.fixture.ts';

type Count = CursorRow & { readonly count: number };

const counting: RowRules<Count> = {
  keysOf: ({ event }) => (event.root === 'nobody' ? [] : [event.root]),
  evolve: (row) => ({ cursor: '', count: (row?.count ?? 0) + 1 }),
};

const history = (roots: readonly string[]) => {
  const { told, tell } = telling();
  for (const root of roots) tell(root, root, { type: 'anything', data: {} });
  return recorded(told).map(audited);
};

const roots = fc.array(fc.constantFrom('a', 'b', 'nobody'), { maxLength: 30 });

describe('folding rows', () => {
  test('gives the same rows in pages of any size, with any page repeated', () => {
    fc.assert(
      fc.property(roots, fc.integer({ min: 1, max: 7 }), (names, size) => {
        const events = history(names);
        const whole = foldRows(counting, new Map(), events);
        const rows = new Map<string, Count>();
        for (let from = 0; from < events.length; from += size) {
          const page = events.slice(Math.max(0, from - size), from + size);
          for (const [key, row] of foldRows(counting, rows, page)) rows.set(key, row);
        }
        expect(rows).toEqual(whole);
        expect([...rows.keys()].sort()).toEqual(touchedKeys(counting, events).sort());
      }),
    );
  });

  test('leaves the stored rows as they are', () => {
    const stored = new Map([['a', { cursor: '1.0.0', count: 1 }]]);
    foldRows(counting, stored, history(['a']));
    expect(stored.get('a')).toEqual({ cursor: '1.0.0', count: 1 });
  });
});

describe('rows for Postgres', () => {
  test('E1 show NUL and lone surrogates by other characters at any depth', () => {
    const rows = JSON.parse(rowsJson([{ goal: 'a\0b', list: [{ text: '\ud800' }], code: 1 }]));
    expect(rows).toEqual([{ goal: 'a␀b', list: [{ text: '\ufffd' }], code: 1 }]);
  });
});
