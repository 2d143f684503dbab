import { describe, expect, test } from '@jest/globals';
import { audited } from './audited-event.ts';
import { deadLetterRules } from './dead-letters.ts';
import { foldRows } from './fold-rows.ts';
import { at, recorded, telling } from './history.fixture.ts';
import { deadLetterDiscarded, deadLettered, deadLetterReplayed, LETTER } from './letter-history.fixture.ts';

const rowAfter = (...steps: readonly { readonly type: string; readonly data: unknown }[]) => {
  const { told, tell } = telling();
  for (const step of steps) tell(`dead-${LETTER}`, `dead-${LETTER}`, step);
  const rows = foldRows(deadLetterRules, new Map(), recorded(told).map(audited));
  return rows.get(LETTER);
};

describe('a dead letter’s row', () => {
  test('says what was given up, by whom and why', () => {
    expect(rowAfter(deadLettered())).toMatchObject({
      ...{ letter: LETTER, status: 'parked', reader: 'validator__gate', event_id: 'e1', lineage: 'r1', run: 1 },
      ...{ deliveries: 5, replays: 0, reason: 'no idea', actor: null, parked_at: at(0), changed_at: at(0) },
    });
  });

  test('says who replayed it, and keeps when it was first parked', () => {
    const replayed = rowAfter(deadLettered(), deadLetterReplayed(1));
    expect(replayed).toMatchObject({ status: 'replayed', replays: 1, actor: 'local', changed_at: at(1) });
    const back = rowAfter(deadLettered(), deadLetterReplayed(1), deadLettered(6));
    expect(back).toMatchObject({ status: 'parked', replays: 1, deliveries: 6, parked_at: at(0), changed_at: at(2) });
  });

  test('says why it was discarded', () => {
    const discarded = rowAfter(deadLettered(), deadLetterDiscarded());
    expect(discarded).toMatchObject({ status: 'discarded', discarded_because: 'not needed', actor: 'local' });
  });

  test('begins with its parking, and is made by no other stream', () => {
    expect(rowAfter(deadLetterReplayed(1))).toBeUndefined();
    const { told, tell } = telling();
    tell('lineage-r1', 'r1', deadLettered());
    expect(foldRows(deadLetterRules, new Map(), recorded(told).map(audited)).size).toBe(0);
  });
});
