import { describe, expect, test } from '@jest/globals';
import { mode, nodeSpec, Play, taskSpec } from '../lineage.fixture.ts';
import { accountFor } from './accounting.ts';
import { FRESH_BUDGET } from './budget.ts';
import { evolveBudget } from './evolve-budget.ts';

const RUN = { run_money_micros: 100, run_tokens: 10, max_money_micros: 500 };
const started = (): Play =>
  new Play(mode(RUN)).submit(taskSpec([nodeSpec({ policy: 'recover', max_repair_attempts: 1 })]));

const accountedBy = (play: Play, spent: number) => {
  const result = { ...play.result(), spent: { duration_ms: 1, money_micros: spent, tokens: 0 } };
  const context = { now: play.now, mode: play.mode, askCondition: () => ({ holds: true }) as const };
  return accountFor({ type: 'end_run', result, ...context }, { ...context, state: play.state });
};

describe('what a run reports', () => {
  test('takes the place of what was reserved for it', () => {
    const play = started();
    const [accounted] = accountedBy(play, 30);
    if (accounted?.type !== 'run_accounted') throw new Error('nothing was accounted for');
    const { budget } = evolveBudget(play.state, accounted);
    expect(budget).toMatchObject({ reserved: {}, spent: { money_micros: 30, tokens: 0 } });
  });

  test('changes nothing when it is told again', () => {
    const play = started();
    const [accounted] = accountedBy(play, 30);
    if (accounted === undefined) throw new Error('nothing was accounted for');
    const once = evolveBudget(play.state, accounted);
    expect(evolveBudget(once, accounted)).toEqual(once);
  });

  test('is nothing to account for when nothing was reserved', () => {
    const play = new Play(mode(RUN)).submit();
    expect(accountedBy(play, 30)).toEqual([]);
    expect(play.state.budget).toEqual(FRESH_BUDGET);
  });
});
