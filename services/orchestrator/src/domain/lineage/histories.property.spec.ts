import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { fold } from '@fixpoint/decider/decider';
import { Refused } from '@fixpoint/decider/refused';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { lineage } from './decide.ts';
import { EpicPlay } from './epics/epic.fixture.ts';
import { commandsFor } from './every-command.fixture.ts';
import { states } from './every-state.fixture.ts';
import { mode, nodeSpec, taskSpec } from './lineage.fixture.ts';
import type { Lineage } from './state.ts';
import { isLive } from './tree.ts';

const known = Object.keys(commandsFor(states.running()));
const rare = ['submit', 'submit other', 'halt', 'escalate', 'deadline', 'cancel', 'claim', 'sweep', 'no council'];
const usual = known.filter((name) => !rare.includes(name));

/** What is said next, and whether there is room for another run just then. */
const saying = fc.tuple(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.constantFrom('unmet', 'proceed', 'proceed', 'turn', 'split', 'retry due', 'recompose due'),
    },
    { weight: 3, arbitrary: fc.constantFrom(...usual) },
    { weight: 1, arbitrary: fc.constantFrom(...rare) },
  ),
  fc.integer({ min: 0, max: 4 }),
);
const script = fc.array(saying, { minLength: 20, maxLength: 70 });
type Script = readonly (readonly [string, number])[];

type Said = ReturnType<typeof commandsFor>[string];

/** @returns what was decided; a refusal decides nothing. */
const send = (play: EpicPlay, bare: Said | undefined): readonly string[] => {
  if (bare === undefined) throw new Error('there is no such command');
  try {
    return play.send(bare);
  } catch (error) {
    if (error instanceof Refused) return [];
    throw error;
  }
};

const say = (play: EpicPlay, name: string): readonly string[] => send(play, commandsFor(play)[name]);

const played = (steps: Script, each: (play: EpicPlay, name: string) => void = say): EpicPlay => {
  const play = new EpicPlay(mode({ execute: 1, max_total_fix_attempts: 2, integrate: 2, max_recompose_attempts: 2 }));
  play.submit(taskSpec([nodeSpec({ id: 'one' }), nodeSpec({ id: 'two' })]));
  for (const [name, room] of steps) {
    play.admission = { room: room > 0, paused: [] };
    each(play, name);
  }
  return play;
};

const along = (facts: readonly LineageEvent[]): Lineage[] => {
  let state: Lineage = lineage.initial;
  return facts.map((fact) => {
    state = fold(lineage, state, [fact]);
    return state;
  });
};

const endedIn = (state: Lineage): Readonly<Record<string, string>> =>
  state.status === 'unknown'
    ? {}
    : Object.fromEntries(
        Object.values(state.tasks)
          .filter((task) => !isLive(task))
          .map(({ id, status }) => [id, status]),
      );

const countersIn = (state: Lineage): Readonly<Record<string, number>> => {
  if (state.status === 'unknown') return {};
  const units = Object.entries(state.units).flatMap(([id, unit]) => [
    [`${id} runs`, unit.runs],
    [`${id} fixes`, unit.fixAttempts],
    [`${id} agents`, unit.agentAttempts],
    [`${id} requests`, unit.request.number],
    [`${id} handoffs`, unit.handoffs],
  ]);
  const tasks = Object.values(state.tasks).flatMap(({ id, runs, conflicts }) => [
    [`${id} runs of its own`, runs],
    [`${id} conflicts`, conflicts],
  ]);
  return { children: state.childrenUsed, ...Object.fromEntries([...units, ...tasks]) };
};

/** Once with a seed that is always the same, once with another each time; a failure prints its seed. */
const property = (holds: (steps: Script, order: readonly number[]) => void): void => {
  const stated = fc.property(script, fc.array(fc.nat(), { minLength: 7, maxLength: 7 }), holds);
  fc.assert(stated, { numRuns: 25, seed: 1 });
  fc.assert(stated, { numRuns: 15 });
};

describe('any history of commands', () => {
  test('says nothing more when a command is said twice', () => {
    property((steps) => {
      played(steps, (play, name) => {
        const said = commandsFor(play)[name];
        send(play, said);
        expect([name, send(play, said)]).toEqual([name, []]);
      });
    });
  });

  test('leaves what has ended as it ended', () => {
    property((steps) => {
      let before: Readonly<Record<string, string>> = {};
      for (const state of along(played(steps).facts)) {
        const now = endedIn(state);
        expect(now).toMatchObject(before);
        before = now;
      }
    });
  });

  test('lets no counter of a lineage, a unit or a task fall', () => {
    property((steps) => {
      let before: Readonly<Record<string, number>> = {};
      for (const state of along(played(steps).facts)) {
        const now = countersIn(state);
        expect(Object.keys(before).filter((name) => (now[name] ?? 0) < (before[name] ?? 0))).toEqual([]);
        before = now;
      }
    });
  });

  test('is folded in any order, and nothing that is heard late opens again what has ended', () => {
    property((steps, order) => {
      const { facts } = played(steps);
      const key = (index: number) => (order[index % order.length] ?? 0) % 1_000;
      const shuffled = facts.map((fact, index) => ({ fact, at: key(index) })).sort((a, b) => a.at - b.at);
      const anyOrder = shuffled.map(({ fact }) => fact);
      expect(() => fold(lineage, lineage.initial, anyOrder)).not.toThrow();
      const whole = fold(lineage, lineage.initial, facts);
      for (const fact of anyOrder) expect(endedIn(fold(lineage, whole, [fact]))).toMatchObject(endedIn(whole));
    });
  });

  test('goes here as far as splits, merges, recomposes, decisions, cancels and the queue', () => {
    const seen = new Set<string>();
    const stated = fc.property(script, (steps) => {
      for (const { type } of played(steps).facts) seen.add(type);
    });
    fc.assert(stated, { numRuns: 120, seed: 1 });
    const far = ['epic_opened', 'child_submitted', 'epic_child_resolved', 'integration_failed', 'recompose_started'];
    const others = ['human_decided', 'handoff_withdrawn', 'node_queued', 'task_cancelled', 'task_completed'];
    expect([...far, ...others].filter((type) => !seen.has(type))).toEqual([]);
  });
});
