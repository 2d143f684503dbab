import { describe, expect, test } from '@jest/globals';
import { audited } from './audited-event.ts';
import { foldRows } from './fold-rows.ts';
import {
  asked,
  causeEnded,
  claimed,
  decided,
  expired,
  HANDOFF,
  secondCause,
  warned,
} from './handoff-history.fixture.ts';
import type { HandoffRow } from './handoff-row.ts';
import { handoffRules } from './handoffs.ts';
import { at, recorded, telling } from './history.fixture.ts';

const rowAfter = (...events: readonly { type: string; data: unknown }[]): HandoffRow | undefined => {
  const { told, tell } = telling();
  for (const event of events) tell('lineage-r1', 'r1', event);
  return foldRows(handoffRules, new Map(), recorded(told).map(audited)).get(HANDOFF);
};

const about = <Type extends string>(event: { readonly type: Type; readonly data: object }) => ({
  ...event,
  data: { ...event.data, handoff: HANDOFF },
});

describe('a handoff’s row', () => {
  test('says which help is needed, where, and what was tried and spent', () => {
    const cost = { money_micros: 12, tokens: 34, duration_ms: 56 };
    expect(rowAfter(asked({ cost: { ...cost, runs: 7 } }))).toMatchObject({ ...cost, lineage_runs: 7 });
    expect(rowAfter(asked({ cost }))).toMatchObject({
      lineage_runs: null,
      ...{ handoff: HANDOFF, lineage: 'r1', status: 'open', version: 1, help: 'cannot_act', stage: 'floor' },
      ...{ slice_task: 'r1', node: 'commit', run: 1, runs: 1, fix_attempts: 1, ...cost },
      ...{ decisions: ['retry', 'abandon'], warned: 0, opened_at: at(0), closed_at: null },
    });
  });

  test('has every cause, and goes on with the others when one is gone', () => {
    const both = rowAfter(asked(), secondCause());
    expect(both).toMatchObject({ version: 2, help: 'cannot_act', decisions: ['extend'] });
    expect(both?.causes.map(({ help }) => help)).toEqual(['cannot_act', 'budget']);
    const [first] = both?.causes ?? [];
    const left = rowAfter(asked(), secondCause(), causeEnded(first?.detail ?? ''));
    expect(left).toMatchObject({
      version: 3,
      help: 'budget',
      stage: 'budget',
      causes: [{ raw_halt_type: 'deadline' }],
    });
  });

  test('says who looks after it, and that its end has moved', () => {
    const until = at(99_000);
    expect(rowAfter(asked(), claimed(until))).toMatchObject({
      ...{ version: 2, claimed_by: 'ada', claimed_until: until, expires_at: until },
    });
  });

  test('D3 says of which part of its life people were warned, and when its time was over', () => {
    expect(rowAfter(asked(), warned(90, at(95_000)))).toMatchObject({ warned: 90, expires_at: at(95_000) });
    expect(rowAfter(asked(), about(expired('r1', 'keep')))).toMatchObject({ status: 'open', expired_at: at(1) });
    expect(rowAfter(asked(), about(expired('r1')))).toMatchObject({ status: 'expired', closed_at: at(1) });
  });

  test('says what was decided and by whom', () => {
    expect(rowAfter(asked(), decided())).toMatchObject({
      ...{ status: 'decided', decision: 'retry', closed_by: 'ada', closed_at: at(1) },
    });
  });

  test('begins with the request, and stays as it was first asked', () => {
    expect(rowAfter(decided())).toBeUndefined();
    expect(rowAfter(asked(), asked({ version: 9 }))).toMatchObject({ version: 1 });
  });
});
