import { contentHash } from '@fixpoint/contracts/content-hash';
import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { fold } from '@fixpoint/decider/decider';
import { Refused } from '@fixpoint/decider/refused';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { lineage } from '../decide.ts';
import { mode, nodeSpec, ref, taskSpec, verdict } from '../lineage.fixture.ts';
import type { Lineage, Task } from '../state.ts';
import { isLive } from '../tree.ts';
import { EpicPlay, slice } from './epic.fixture.ts';

/** Answers to whatever waits: `which` picks among the tasks that it could be about. */
const moves = {
  good: (play: EpicPlay, id: string, tree: string) => play.on(id).judge([], { workspace_ref: ref(tree) }),
  unmet: (play: EpicPlay, id: string, tree: string) => play.on(id).unmet(tree),
  same: (play: EpicPlay, id: string) => play.on(id).unmet('same'),
  lint: (play: EpicPlay, id: string, tree: string) =>
    play.on(id).judge([verdict('lint')], { workspace_ref: ref(tree) }),
  faulted: (play: EpicPlay, id: string) => play.on(id).end({ outcome: 'faulted', fault_class: 'network' }),
  halt: (play: EpicPlay, id: string) => play.on(id).gate('halt'),
  submit: (play: EpicPlay, id: string, tree: string) => {
    const spec = { ...taskSpec([nodeSpec({ id: 'part' })]), name: 'part' };
    const key = String(Number(tree) % 3);
    return play.send({
      ...{ type: 'submit_child', task: id, run: play.on(id).ready.run, key, spec },
      specHash: contentHash(spec),
    });
  },
} satisfies Record<string, (play: EpicPlay, id: string, tree: string) => string[]>;
type Move = keyof typeof moves;

const move = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom<Move>('good') },
  { weight: 6, arbitrary: fc.constantFrom<Move>('unmet', 'same', 'lint') },
  { weight: 1, arbitrary: fc.constantFrom<Move>('faulted', 'halt', 'submit') },
);
const script = fc.array(fc.tuple(move, fc.nat(40), fc.nat(5)), { minLength: 20, maxLength: 120 });
const bounds = fc.record({
  max_decomposition_depth: fc.nat(3),
  max_total_decomposition_children: fc.nat(8),
  integrate: fc.integer({ min: 1, max: 3 }),
  max_recompose_attempts: fc.integer({ min: 1, max: 3 }),
  execute: fc.integer({ min: 1, max: 2 }),
  iterations: fc.integer({ min: 3, max: 50 }),
  max_total_fix_attempts: fc.nat(2),
});

const step = (play: EpicPlay, [name, tree, which]: readonly [Move, number, number]): void => {
  const running = Object.values(play.state.tasks).filter(({ current }) => current !== null);
  const asked = Object.entries(play.state.units).find(([, { request }]) => request.open);
  const task = running[which % Math.max(1, running.length)];
  if (asked !== undefined && (which === 0 || task === undefined)) {
    const count = 2 + (tree % 3);
    play.split(
      asked[0],
      Array.from({ length: count }, (_, n) => slice(`s${n}`)),
    );
  } else if (task === undefined) rest(play);
  else answer(play, task.id, { name, tree: String(tree) });
};

const answer = (play: EpicPlay, id: string, { name, tree }: { readonly name: Move; readonly tree: string }): void => {
  try {
    moves[name](play, id, tree);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
  }
};

/** Nobody works: time goes on. */
const rest = (play: EpicPlay): void => {
  const recompose = Object.values(play.state.epics).find(({ recompose: { retryAt } }) => retryAt !== null);
  if (recompose !== undefined) play.recomposeDue(recompose.task);
  else play.retry();
};

const played = (steps: readonly (readonly [Move, number, number])[], limits: Parameters<typeof mode>[0]): EpicPlay => {
  const play = new EpicPlay(mode(limits));
  play.submit(taskSpec([nodeSpec({ id: 'one' }), nodeSpec({ id: 'two' })]));
  for (const each of steps) step(play, each);
  return play;
};

const property = (holds: (play: EpicPlay) => void, how: fc.Parameters<unknown> = {}): void =>
  fc.assert(
    fc.property(script, bounds, (steps, limits) => holds(played(steps, limits))),
    { numRuns: 200, ...how },
  );

const prefixes = (facts: readonly LineageEvent[]): Lineage[] => {
  const states: Lineage[] = [];
  let state: Lineage = lineage.initial;
  for (const fact of facts) {
    state = fold(lineage, state, [fact]);
    states.push(state);
  }
  return states;
};

const endedIn = (state: Lineage): readonly Task[] =>
  state.status === 'admitted' ? Object.values(state.tasks).filter((task) => !isLive(task)) : [];

describe('splits, however they go', () => {
  test('C9 never use more than their budget, and use of it never falls', () => {
    property((play) => {
      const { max_total_decomposition_children: most, max_decomposition_depth: depth } = play.mode.bounds;
      const used = prefixes(play.facts).map((state) => (state.status === 'admitted' ? state.childrenUsed : 0));
      expect(used.every((each, index) => each <= most && each >= (used[index - 1] ?? 0))).toBe(true);
      const tasks = Object.values(play.state.tasks);
      expect(tasks.filter(({ kind }) => kind === 'child')).toHaveLength(play.state.childrenUsed);
      expect(tasks.every(({ splitDepth }) => splitDepth <= depth)).toBe(true);
    });
  });

  test('close an epic once, after all its children', () => {
    property((play) => {
      const closed = play.facts.flatMap((fact) => (fact.type === 'epic_closed' ? [fact.data.epic] : []));
      expect(new Set(closed).size).toBe(closed.length);
      for (const id of closed) expect(play.state.epics[id]?.children.every(({ state }) => state !== 'open')).toBe(true);
    });
  });

  test('merge one child of an epic at a time', () => {
    property(
      (play) => {
        for (const state of prefixes(play.facts)) {
          if (state.status !== 'admitted') continue;
          const merging = Object.values(state.tasks).filter(({ current }) => current?.kind === 'integrate');
          const epics = merging.map(({ memberOf }) => memberOf);
          expect(new Set(epics).size).toBe(epics.length);
        }
      },
      { numRuns: 50 },
    );
  });

  test('keep a unit that is ranked below what is dispatched with an epic or a human', () => {
    property((play) => {
      for (const [id, { affinity, handoff }] of Object.entries(play.state.units)) {
        const task = play.state.tasks[id];
        if (affinity >= -5 || task === undefined || !isLive(task)) continue;
        expect([id, handoff !== null || task.status === 'superseded']).toEqual([id, true]);
      }
    });
  });

  test('end, and stay ended', () => {
    property(
      (play) => {
        const ended = new Map<string, string>();
        for (const { id, status } of prefixes(play.facts).flatMap(endedIn)) {
          expect(ended.get(id) ?? status).toBe(status);
          ended.set(id, status);
        }
      },
      { numRuns: 50 },
    );
  });

  test('are folded from events in any order, and from any of them twice', () => {
    fc.assert(
      fc.property(script, bounds, fc.infiniteStream(fc.nat()), (steps, limits, order) => {
        const { facts } = played(steps, limits);
        const shuffled = [...facts].sort(() => ((order.next().value ?? 0) % 3) - 1);
        expect(() => fold(lineage, lineage.initial, [...shuffled, ...facts])).not.toThrow();
      }),
      { numRuns: 50 },
    );
  });

  test('U-T19 are asked for only while nothing of the unit runs or waits to run', () => {
    property(
      (play) => {
        for (const state of prefixes(play.facts)) {
          if (state.status !== 'admitted') continue;
          const asking = Object.keys(state.units).filter((id) => state.units[id]?.request.open);
          const busy = Object.values(state.tasks).filter(({ current, queued }) => current !== null || queued !== null);
          expect(busy.filter(({ unit }) => asking.includes(unit))).toEqual([]);
        }
      },
      { numRuns: 50 },
    );
  });

  test('H-T105 say of a child what it has come to', () => {
    property((play) => {
      for (const { task, state } of Object.values(play.state.epics).flatMap(({ children }) => children)) {
        expect([task, state === 'resolved']).toEqual([task, play.state.tasks[task]?.status === 'completed']);
      }
    });
  });

  test('leave nothing for a sweeper: it finds what a handler did already', () => {
    property((play) => {
      for (const task of Object.keys(play.state.tasks)) expect(play.send({ type: 'sweep_unit', task })).toEqual([]);
    });
  });

  test('are told here in scripts that get as far as merges, recomposes and closed epics', () => {
    const seen = new Set<string>();
    property(
      (play) => {
        for (const { type } of play.facts) seen.add(type);
      },
      { seed: 1 },
    );
    const far = ['epic_opened', 'child_submitted', 'epic_child_resolved', 'recompose_started', 'recompose_failed'];
    expect([...far, 'epic_closed', 'split_refused'].filter((type) => !seen.has(type))).toEqual([]);
  });
});
