import { expect, test } from '@jest/globals';
import { mode, nodeSpec, Play, taskSpec } from '../lineage.fixture.ts';

const RUN = { run_money_micros: 100, run_tokens: 10, max_money_micros: 500, execute: 1 };

test('a handoff says what its lineage has cost by then: models as reported, time since its submission, and runs', () => {
  const play = new Play(mode(RUN)).submit(taskSpec([nodeSpec({ policy: 'recover', max_repair_attempts: 1 })]));
  const spent = { duration_ms: 9, money_micros: 30, tokens: 7 };
  play.now = '2026-01-01T00:10:00.000Z';
  play.end({ outcome: 'faulted', fault_class: 'source', spent });
  expect(play.last('human_required').cost).toEqual({ money_micros: 30, tokens: 7, duration_ms: 600_000, runs: 1 });
});

test('more time for a lineage makes it no younger', () => {
  const play = new Play(mode()).submit();
  play.deadline();
  play.now = '2026-01-01T01:00:00.000Z';
  play.unmet('t1');
  const more = { kind: 'extend', limits: { deadline_ms: 7_200_000 } } as const;
  play.send({
    type: 'decide_handoff',
    ...{ handoff: 'r1.h1', version: 1, decisionId: 'd1', decision: more, nodes: null, signature: 'a.b.c' },
    ...{ actor: 'ada', authenticated: 'api_key', comment: null, commentArtifact: null },
  });
  play.end({ outcome: 'faulted', fault_class: 'source' });
  expect(play.last('human_required').cost?.duration_ms).toBe(3_600_000);
});
