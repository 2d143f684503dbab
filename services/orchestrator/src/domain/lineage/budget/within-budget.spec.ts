import { fold } from '@fixpoint/decider/decider';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { RunResult } from '../commands.ts';
import { lineage } from '../decide.ts';
import { mode, nodeSpec, Play, ROOT, ref, taskSpec } from '../lineage.fixture.ts';
import { extendBudget } from './extend.ts';

/** A node of which each normal run may ask a model. */
const REPAIRED = taskSpec([nodeSpec({ policy: 'recover', max_repair_attempts: 1 })]);
const RUN = { run_money_micros: 100, run_tokens: 10 };

const spending = (money_micros: number): Pick<RunResult, 'spent'> => ({
  spent: { duration_ms: 1, money_micros, tokens: 0 },
});

const committed = ({ state: { budget } }: Play, key: 'money_micros' | 'tokens'): number =>
  Object.values(budget.reserved).reduce((sum, each) => sum + each[key], budget.spent[key]);

describe('a budget', () => {
  test('is reserved when a run starts, and replaced by what the run reports', () => {
    const play = new Play(mode({ ...RUN, max_money_micros: 250 })).submit(REPAIRED);
    expect(play.ready.allowance).toMatchObject({ money_micros: 100, tokens: 10 });
    expect(committed(play, 'money_micros')).toBe(100);
    play.end({ outcome: 'unmet', workspace_ref: ref('one'), ...spending(30) });
    expect(play.last('run_accounted')).toMatchObject({
      run: 1,
      spent: { money_micros: 30 },
      total: { money_micros: 30 },
    });
    expect(committed(play, 'money_micros')).toBe(130);
  });

  test('is nothing for work that can ask no model', () => {
    const play = new Play(mode({ ...RUN, max_money_micros: 0, max_tokens: 0 })).submit();
    expect(play.ready.allowance).toMatchObject({ money_micros: 0, tokens: 0 });
    expect(play.judge()).not.toContain('run_accounted');
  });

  test('C11 is asked before the spend: what does not fit is not started, and a human is asked once', () => {
    const play = new Play(mode({ ...RUN, max_money_micros: 199 })).submit(REPAIRED);
    const types = play.end({ outcome: 'unmet', workspace_ref: ref('one'), ...spending(100) });
    expect(types).toEqual(['run_accounted', 'run_counted', 'budget_exceeded', 'node_queued', 'human_required']);
    expect(play.last('budget_exceeded')).toMatchObject({
      kind: 'money',
      limit: 199,
      spent: 100,
      reserved: 0,
      asked: 100,
    });
    expect(play.last('human_required')).toMatchObject({ task: ROOT, halt_type: 'budget', help: 'budget' });
    expect(play.send({ type: 'start_queued', task: ROOT, run: 2 })).toEqual([]);
  });

  test('a lineage that has none begins with a human', () => {
    const play = new Play(mode({ ...RUN, max_tokens: 9 })).submit(REPAIRED);
    expect(play.facts.map(({ type }) => type)).toEqual([
      'task_submitted',
      'budget_exceeded',
      'node_queued',
      'human_required',
    ]);
  });

  test('with more of it, what was held back goes on under its number', () => {
    const play = new Play(mode({ ...RUN, max_money_micros: 99 })).submit(REPAIRED);
    const turn = { ...contextOf(play), state: play.state };
    const more = { bounds: { max_money_micros: 500 }, deadlineAt: null, handoff: null };
    const facts = extendBudget(turn, play.root, more);
    expect(facts.map(({ type }) => type)).toEqual(['budget_extended', 'node_ready']);
    expect(fold(lineage, play.state, facts)).toMatchObject({
      budget: { exceeded: false, extended: { max_money_micros: 500 } },
    });
  });

  test('H-T97 a run that was given up is paid when its report comes late, and once', () => {
    const play = new Play(mode({ ...RUN, max_money_micros: 1_000 })).submit(REPAIRED);
    const late = { ...play.result(), outcome: 'unmet' as const, ...spending(70) };
    play.send({ type: 'cancel_task', task: ROOT, reason: '' });
    expect(committed(play, 'money_micros')).toBe(100);
    expect(play.send({ type: 'end_run', result: late })).toEqual(['run_accounted']);
    expect(committed(play, 'money_micros')).toBe(70);
    expect(play.send({ type: 'end_run', result: late })).toEqual([]);
  });

  test('stays reserved for a run that was given up, and counts beside what starts after it', () => {
    const play = new Play(mode({ ...RUN, max_money_micros: 199 })).submit(REPAIRED);
    silent(play);
    play.retry();
    expect(play.unmet('after')).toEqual(['run_counted', 'budget_exceeded', 'node_queued', 'human_required']);
    expect(play.last('budget_exceeded')).toMatchObject({ spent: 0, reserved: 100, asked: 100 });
  });

  test('of a lost run is gone: nobody can tell what it spent', () => {
    const play = new Play(mode({ ...RUN, max_money_micros: 1_000 })).submit(REPAIRED);
    play.end({ outcome: 'faulted', fault_class: 'lost_executor' });
    expect(play.state.budget.spent).toEqual({ money_micros: 100, tokens: 10 });
  });
});

/** Nobody answers for the run in flight: it may have done anything. */
const silent = (play: Play): string[] => {
  const { task, run } = play.ready;
  const fault = { phase: 'action', class: 'no_answer', retryAfterMs: 0, detail: '' } as const;
  return play.send({ type: 'fault_run', task, run, ...fault, result: null, effects: 'possible' });
};

const contextOf = (play: Play) => ({ now: play.now, mode: play.mode, askCondition: () => ({ holds: true }) as const });

/** What may come next of a lineage, in any order and as often as it likes. */
const said = fc.record({
  what: fc.constantFrom('unmet', 'lost', 'silent', 'fault', 'late', 'retry', 'refused', 'council', 'done'),
  spent: fc.nat(100),
});

test('C9 what is spent and reserved never exceeds the limit, never falls by a refund, under any order of answers', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 700 }), fc.array(said, { maxLength: 40 }), (limit, script) => {
      const play = new Play(mode({ ...RUN, max_money_micros: limit, execute: 9, faults: 9 })).submit(REPAIRED);
      const seen: RunResult[] = [];
      let spent = 0;
      for (const each of script) {
        say(play, each, seen);
        expect(committed(play, 'money_micros')).toBeLessThanOrEqual(limit);
        expect(play.state.budget.spent.money_micros).toBeGreaterThanOrEqual(spent);
        spent = play.state.budget.spent.money_micros;
      }
      expect(play.count('human_required')).toBeLessThanOrEqual(1);
    }),
  );
});

const say = (play: Play, { what, spent }: { what: string; spent: number }, seen: RunResult[]): void => {
  const old = seen.at(-1);
  if (what === 'late' && old) play.send({ type: 'end_run', result: { ...old, ...spending(spent) } });
  else if (play.root.current !== null) answer(play, { what, spent }, seen);
  else if (play.root.retry !== null) play.retry();
};

const answer = (play: Play, { what, spent }: { what: string; spent: number }, seen: RunResult[]): void => {
  seen.push({ ...play.result(), outcome: 'unmet' });
  if (what === 'lost') play.end({ outcome: 'faulted', fault_class: 'lost_executor' });
  else if (what === 'silent') silent(play);
  else if (what === 'fault') play.end({ outcome: 'faulted', fault_class: 'network', ...spending(spent) });
  else if (what === 'refused') play.refuse('token_expired');
  else if (what === 'done') play.judge([], {}, spending(spent));
  else play.end({ outcome: 'unmet', workspace_ref: ref(`tree ${play.facts.length}`), ...spending(spent) });
};
