import { fold } from '@fixpoint/decider/decider';
import { Refused } from '@fixpoint/decider/refused';
import { askCondition } from '@fixpoint/validation/condition';
import { describe, expect, test } from '@jest/globals';
import { lineage } from '../decide.ts';
import { resumeUnit } from '../enter-node.ts';
import { ROOT } from '../lineage.fixture.ts';
import { taskOf } from '../lookup.ts';
import { API, type EpicPlay, splitInTwo, WEB } from './epic.fixture.ts';
import { excludeChild } from './exclude.ts';
import { EPIC_HELD } from './hold.ts';
import { sweepUnit } from './sweep.ts';

const blocked = (play: EpicPlay, id: string): string[] => {
  play.on(id);
  return play.gate('halt');
};
const turnOf = (play: EpicPlay) => ({ now: play.now, mode: play.mode, askCondition, state: play.state });
const excluding = (play: EpicPlay, child: string): string[] => {
  const facts = excludeChild(turnOf(play), { child, decision: `${ROOT}.h1`, reason: 'done by hand' });
  return play.take(facts);
};

describe('a child that will never be done', () => {
  test('C2 H-T99 holds its epic, and a human has the choice', () => {
    const play = splitInTwo();
    expect(blocked(play, WEB)).toEqual(['task_blocked', 'human_required']);
    expect(play.last('human_required')).toMatchObject({
      ...{ task: ROOT, raw_halt_type: EPIC_HELD, help: 'choice', run_open: true },
      detail: 'child 0.2 is blocked: what it was to do is not done',
    });
    play.done(API);
    expect([play.count('recompose_started'), play.root.status]).toEqual([0, 'superseded']);
  });

  test('H-T67 of all of them leaves the unit open', () => {
    const play = splitInTwo();
    blocked(play, WEB);
    expect(blocked(play, API)).toEqual(['task_blocked', 'handoff_updated']);
    expect(play.root.status).toBe('superseded');
    expect(play.count('epic_closed')).toBe(0);
  });

  test('C3 is left out when a human says so: the epic closes by the others', () => {
    const play = splitInTwo();
    blocked(play, WEB);
    play.done(API);
    expect(excluding(play, WEB)).toEqual(['child_excluded', 'recompose_started', 'affinity_changed', 'node_ready']);
    play.good(ROOT);
    expect(play.last('epic_closed')).toMatchObject({ children: 2, excluded: 1 });
  });

  test('C3 is asked about again while another one is left out', () => {
    const play = splitInTwo();
    blocked(play, WEB);
    blocked(play, API);
    const { handoff } = play.last('human_required');
    const facts = play.send({
      ...{ type: 'decide_handoff', handoff, version: 2, decisionId: 'd1', nodes: null },
      decision: { kind: 'resolve', ref: null, exclude_children: [WEB] },
      ...{ actor: 'ada', authenticated: 'api_key', signature: 'a.b.c', comment: null, commentArtifact: null },
    });
    expect(facts).toEqual(['human_decided', 'affinity_changed', 'child_excluded', 'human_required']);
    expect(play.last('human_required').detail).toBe('child 0.1 is blocked: what it was to do is not done');
  });

  test('C2 is left out by a decision on the handoff of its epic, and only a child of this unit is', () => {
    const play = splitInTwo();
    blocked(play, WEB);
    play.done(API);
    const decide = (child: string) =>
      play.send({
        ...{ type: 'decide_handoff', handoff: play.last('human_required').handoff, version: 1, decisionId: 'd1' },
        decision: { kind: 'resolve', ref: null, exclude_children: [child] },
        ...{ nodes: null, actor: 'ada', authenticated: 'api_key', signature: 'a.b.c' },
        ...{ comment: 'done by hand', commentArtifact: null },
      });
    expect(() => decide(ROOT)).toThrow('child_unknown');
    expect(() => decide(API)).toThrow('child_has_not_ended');
    expect(decide(WEB)).toEqual(
      expect.arrayContaining(['human_decided', 'child_excluded', 'recompose_started', 'node_ready']),
    );
    expect(play.last('child_excluded')).toMatchObject({ child: WEB, reason: 'done by hand' });
    play.good(ROOT);
    expect(play.root.status).toBe('completed');
  });

  test('and is left out while others work changes nothing for them', () => {
    const play = splitInTwo();
    blocked(play, WEB);
    expect(excluding(play, WEB)).toEqual(['child_excluded']);
    expect(excluding(play, WEB)).toEqual([]);
    expect(play.done(API)).toContain('recompose_started');
  });

  test('H-B16 U-T52 and is the last of them leaves nothing to put together: a human is asked, and nothing is run', () => {
    const play = splitInTwo();
    blocked(play, WEB);
    blocked(play, API);
    excluding(play, WEB);
    expect(excluding(play, API)).toEqual(['child_excluded', 'handoff_updated']);
    expect(play.last('handoff_updated')).toMatchObject({ raw_halt_type: 'epic_empty', help: 'choice' });
    expect(play.count('recompose_started')).toBe(0);
  });

  test('is the only one that can be left out', () => {
    const play = splitInTwo();
    expect(() => excluding(play, WEB)).toThrow(Refused);
    play.done(API);
    expect(() => excluding(play, API)).toThrow(Refused);
    expect(() => excluding(play, ROOT)).toThrow(Refused);
  });
});

describe('what a sweeper finds', () => {
  test('H-T71 H-T104 is nothing while a child is open, however often it looks', () => {
    const play = splitInTwo();
    const sweep = () => play.send({ type: 'sweep_unit', task: ROOT });
    expect(sweep()).toEqual([]);
    play.done(API);
    expect(sweep()).toEqual([]);
    play.good(WEB);
    expect(sweep()).toEqual([]);
  });

  test('C18 is a unit whose children are all done and that nothing runs for', () => {
    const play = splitInTwo();
    play.done(API);
    play.good(WEB);
    play.merged(WEB);
    const forgotten = play.facts.findIndex(({ type }) => type === 'recompose_started');
    const state = fold(lineage, lineage.initial, play.facts.slice(0, forgotten));
    if (state.status !== 'admitted') throw new Error('nothing was submitted');
    const decided = resumeUnit({ ...turnOf(play), state }, taskOf(state, ROOT)).map(({ type }) => type);
    expect(decided).toEqual(expect.arrayContaining(['recompose_started', 'node_ready']));
  });

  test('H-T72 is never a unit that has ended', () => {
    const play = splitInTwo();
    play.done(API);
    play.done(WEB);
    play.good(ROOT);
    expect(sweepUnit({ type: 'sweep_unit', task: ROOT }, turnOf(play))).toEqual([]);
    expect(play.send({ type: 'sweep_unit', task: 'unheard of' })).toEqual([]);
  });
});
