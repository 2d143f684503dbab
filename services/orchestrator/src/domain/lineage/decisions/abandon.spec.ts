import { expect, test } from '@jest/globals';
import { mode, Play, verdict } from '../lineage.fixture.ts';

const withheld = (): Play => {
  const play = new Play(mode()).submit();
  play.judge([verdict('size', { severity: 'warning' })], { outcome: 'escalate' });
  return play;
};

const abandon = (play: Play) =>
  play.send({
    type: 'decide_handoff',
    ...{ handoff: 'r1.h1', version: 1, decisionId: 'd1', decision: { kind: 'abandon' }, nodes: null },
    ...{ actor: 'ada', authenticated: 'api_key', signature: 'a.b.c', comment: 'not worth it', commentArtifact: null },
  });

test('a unit that is given up ends in the append of the decision, with the reason that was said', () => {
  const play = withheld();
  expect(abandon(play)).toEqual(['human_decided', 'task_abandoned']);
  expect(play.last('task_abandoned')).toMatchObject({ task: 'r1', handoff: 'r1.h1', reason: 'not worth it' });
  expect(play.root.status).toBe('abandoned');
});
