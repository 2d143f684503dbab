import type { Decision } from '@fixpoint/contracts/human-decision';
import { describe, expect, test } from '@jest/globals';
import { mode, Play, ROOT } from './lineage.fixture.ts';

const RESOLVE: Decision = { kind: 'resolve', ref: null, exclude_children: [] };

const decide = (play: Play, decision: Decision): string[] =>
  play.send({
    type: 'decide_handoff',
    ...{ handoff: play.unit.handoff?.id ?? '', version: play.unit.handoff?.version ?? 1, decisionId: 'd1', decision },
    ...{
      nodes: null,
      actor: 'ada',
      authenticated: 'api_key',
      signature: 'a.b.c',
      comment: null,
      commentArtifact: null,
    },
  });

/** A run is in flight, and nobody can read that it is to start. */
const lettered = (): Play => {
  const play = new Play(mode()).submit();
  expect(play.letter()).toEqual(['human_required']);
  expect(play.last('human_required').run_open).toBe(true);
  return play;
};

describe('a dead letter that is heard of again', () => {
  test('says nothing new when its handoff was decided meanwhile', () => {
    const play = lettered();
    decide(play, RESOLVE);
    expect(play.letter()).toEqual([]);
  });

  test('says nothing new when it was added to a handoff that was decided meanwhile', () => {
    const play = new Play(mode({ execute: 1 })).submit();
    play.unmet('t1');
    if (play.root.current !== null) play.unmet('t2');
    play.noSplit();
    expect(play.letter()).toEqual(['handoff_updated']);
    decide(play, { kind: 'retry', from_node: null });
    expect(play.letter()).toEqual([]);
  });

  test('is told of once more when it was replayed and failed again', () => {
    const play = lettered();
    decide(play, RESOLVE);
    expect(play.letter({ deliveries: 6 })).toEqual(['human_required']);
  });
});

describe('a decision while a run is in flight', () => {
  test('names the run in whose place it puts another one', () => {
    const play = lettered();
    expect(decide(play, RESOLVE)).toEqual(['human_decided', 'node_ready']);
    expect(play.last('human_decided').stopped_runs).toEqual([{ task: ROOT, run: 1 }]);
    expect(play.ready).toMatchObject({ run: 2, run_kind: 'check' });
  });

  test('names the run in whose place it puts a question to the council', () => {
    const play = lettered();
    expect(decide(play, { kind: 'split', hint: null })).toEqual(['human_decided', 'decomposition_requested']);
    expect(play.last('human_decided').stopped_runs).toEqual([{ task: ROOT, run: 1 }]);
  });

  test('names none where it goes on', () => {
    const play = lettered();
    decide(play, { kind: 'extend', limits: { iterations: 60 } });
    expect(play.last('human_decided').stopped_runs).toBeUndefined();
    expect(play.ready.run).toBe(1);
  });

  test('names none where nothing was in flight', () => {
    const play = new Play(mode({ execute: 1 })).submit();
    play.unmet('t1');
    if (play.root.current !== null) play.unmet('t2');
    play.noSplit();
    decide(play, RESOLVE);
    expect(play.last('human_decided').stopped_runs).toBeUndefined();
  });
});
