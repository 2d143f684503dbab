import { contentHash } from '@fixpoint/contracts/content-hash';
import type { TaskSpec } from '@fixpoint/contracts/documents/task';
import { describe, expect, test } from '@jest/globals';
import { HASH, mode, nodeSpec, Play, ROOT, taskSpec, verdict } from '../lineage.fixture.ts';

interface More {
  readonly stage?: string;
  readonly aboutMachinery?: boolean;
  readonly play?: Play;
}

const escalated = (
  spec: TaskSpec,
  { stage = 'review', aboutMachinery = false, play = new Play() }: More = {},
): Play => {
  const origin = {
    ...{ kind: 'escalation' as const, what: spec.goal, stage, diagnosis: 'three reviews, three objections' },
    ...{ findings: [{ file: 'a.ts' }], diff: HASH, caused_by: null },
  };
  const protocol = { name: 'p', version: 1, hash: HASH };
  const specHash = contentHash([spec, origin]);
  play.send({
    ...{ type: 'submit_task', root: ROOT, spec, specHash, protocol, idempotencyKey: null },
    ...{ origin, aboutMachinery },
  });
  return play;
};

const SIDE_LOOPS = ['discover', 'contract-refresh', 'corpus-learning'];

describe('work that a producer could not finish', () => {
  test.each(SIDE_LOOPS)(
    'H-T85 of the loop %s begins stalled, is checked first, and then goes to the council',
    (stage) => {
      const play = escalated(taskSpec(), { stage });
      expect(play.facts.map(({ type }) => type)).toEqual(['task_submitted', 'task_stalled', 'node_ready']);
      expect(play.last('task_submitted').origin).toMatchObject({ kind: 'escalation', stage, diff: HASH });
      expect(play.last('task_stalled')).toMatchObject({
        ...{ counter: 'escalation', raw_halt_type: 'escalation', detail: `${stage}: three reviews, three objections` },
      });
      expect(play.ready).toMatchObject({ run: 1, run_kind: 'check', workspace_ref: null });
      expect(play.unmet()).toEqual(['run_counted', 'decomposition_requested']);
    },
  );

  test.each(SIDE_LOOPS)(
    'H-T86 of the loop %s without a task goes straight to the council, and then to a human',
    (stage) => {
      const play = escalated(taskSpec([]), { stage });
      expect(play.facts.map(({ type }) => type)).toEqual(['task_submitted', 'task_stalled', 'decomposition_requested']);
      expect(play.noSplit()).toEqual(['human_required', 'affinity_changed']);
      expect(play.last('human_required').slice).toMatchObject({ task: ROOT, node_id: null, goal: 'All is committed' });
    },
  );

  test('H-T19 H-B09 that is met already ends without a council and without a human', () => {
    const play = escalated(taskSpec());
    expect(play.judge()).toEqual(['node_completed', 'task_completed']);
  });

  test('that is met in its first node goes on with the next one like any task', () => {
    const play = escalated(taskSpec([nodeSpec({ id: 'one' }), nodeSpec({ id: 'two' })]));
    expect(play.judge()).toEqual(['node_completed', 'node_ready']);
    expect(play.ready).toMatchObject({ run_kind: 'normal', node: { id: 'two' } });
  });

  test('is tried by an agent first where there is one, within its bound', () => {
    const play = new Play(mode({ auto_agent_max_attempts: 1 }));
    play.known = { agentModels: ['default'] };
    escalated(taskSpec(), { play });
    play.unmet();
    expect(play.ready).toMatchObject({ run_kind: 'agent', stalled: { counter: 'escalation', attempt: 1 } });
    play.judge([verdict('lint')]);
    expect(play.unmet()).toEqual(['run_counted', 'decomposition_requested']);
  });

  test('that is about the machinery is never split', () => {
    const play = escalated(taskSpec([]), { aboutMachinery: true });
    expect(play.facts.map(({ type }) => type).slice(2)).toEqual([
      'split_excluded',
      'human_required',
      'affinity_changed',
    ]);
    expect(play.last('human_required').help).toBe('infrastructure');
  });

  test('without a check of its own asks no check', () => {
    const play = escalated(taskSpec([nodeSpec({ postcondition: null })]));
    expect(play.facts.at(-1)?.type).toBe('decomposition_requested');
  });

  test('is the same lineage when it comes again, and refused under another body', () => {
    const play = escalated(taskSpec());
    const events = play.facts.length;
    escalated(taskSpec(), { play });
    expect(play.facts.length).toBe(events);
    expect(() => escalated(taskSpec(), { play, stage: 'other' })).toThrow('idempotency_key_reused');
  });
});
