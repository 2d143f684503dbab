import type { Decision } from '@fixpoint/contracts/human-decision';
import { expect, test } from '@jest/globals';
import { mode, nodeSpec, Play, taskSpec } from '../lineage.fixture.ts';

const decide = (play: Play, decision: Decision) =>
  play.send({
    type: 'decide_handoff',
    ...{ handoff: 'r1.h1', version: play.unit.handoff?.version ?? 1, decisionId: 'd1', decision, nodes: null },
    ...{ actor: 'ada', authenticated: 'api_key', signature: 'a.b.c', comment: 'no more of it', commentArtifact: null },
  });

const extend = (play: Play, limits: Readonly<Record<string, number>>) => decide(play, { kind: 'extend', limits });

const atFloor = (): Play => {
  const play = new Play(mode({ execute: 1 })).submit();
  play.unmet('t1');
  if (play.root.current !== null) play.unmet('t2');
  play.noSplit();
  return play;
};

/** Its run was given up when the time was over. */
const outOfTime = (): Play => {
  const play = new Play(mode({ execute: 3 })).submit();
  play.now = new Date(Date.parse(play.now) + play.mode.bounds.deadline_ms).toISOString();
  play.deadline();
  play.unmet('t1');
  return play;
};

test('more runs of a unit at the floor are run, and one that is unmet is followed by the next', () => {
  const play = atFloor();
  expect(extend(play, { execute: 4, iterations: 60 })).toEqual([
    ...['human_decided', 'affinity_changed', 'budget_extended', 'node_ready'],
  ]);
  expect(play.unmet('t5')).toEqual(['run_counted', 'node_ready']);
  expect(play.ready.run_kind).toBe('normal');
});

test('more of something else is refused at the floor while what was used up still is', () => {
  const play = atFloor();
  expect(() => extend(play, { iterations: 60 })).toThrow('limit_not_raised: execute is used up (1 of 1)');
  expect(play.unit.handoff?.id).toBe('r1.h1');
});

test('more time for a lineage takes up what it had stopped, and is over when that is over', () => {
  const play = outOfTime();
  expect(play.unit.handoff?.causes[0]?.rawHaltType).toBe('deadline');
  const before = Date.parse(play.state.deadlineAt);
  const deadline_ms = play.mode.bounds.deadline_ms + 60_000;
  const facts = extend(play, { deadline_ms });
  expect(facts).toContain('budget_extended');
  expect(facts.at(-1)).toBe('node_ready');
  expect(Date.parse(play.state.deadlineAt)).toBe(before + 60_000);
  expect(play.state.deadlinePassed).toBe(false);
});

test('time that is over as well is refused', () => {
  const play = outOfTime();
  play.now = new Date(Date.parse(play.now) + 60_000).toISOString();
  expect(() => extend(play, { deadline_ms: play.mode.bounds.deadline_ms + 1 })).toThrow('limit_not_raised');
});

test.each([
  ['what is no limit', { nonsense: 3 }, 'limit_unknown'],
  ['nothing', {}, 'limit_unknown'],
  ['less', { execute: 1 }, 'limit_not_raised'],
])('%s is refused', (_, limits, code) => {
  expect(() => extend(atFloor(), limits as Readonly<Record<string, number>>)).toThrow(code);
});

test('money for a unit that would have asked the council lets it ask', () => {
  const play = new Play(mode({ execute: 1, max_money_micros: 0, run_money_micros: 5 })).submit(
    taskSpec([nodeSpec({ max_agent_attempts: 0 })]),
  );
  play.unmet('t1');
  if (play.root.current !== null) play.unmet('t2');
  expect(play.unit.handoff?.causes[0]?.rawHaltType).toBe('budget_exceeded');
  expect(extend(play, { max_money_micros: 100 })).toContain('decomposition_requested');
});
