import { contentHash } from '@fixpoint/contracts/content-hash';
import { describe, expect, test } from '@jest/globals';
import { mode, nodeSpec, ROOT, taskSpec } from '../lineage.fixture.ts';
import { API, EpicPlay, slice } from './epic.fixture.ts';

const escalate = (play: EpicPlay, key = 'k', nodes = [nodeSpec({ id: 'part' })]): string[] => {
  const spec = { ...taskSpec(nodes), name: 'part' };
  const origin = {
    ...({ kind: 'escalation', what: 'it is done', stage: 'review', diagnosis: 'red for a day' } as const),
    ...{ findings: [], diff: null, caused_by: ROOT },
  };
  const hashes = { specHash: contentHash(spec), aboutMachinery: false };
  return play.send({ type: 'escalate_child', key, spec, origin, ...hashes });
};

const running = (modeSpec = mode()): EpicPlay => {
  const play = new EpicPlay(modeSpec);
  play.submit();
  return play;
};

describe('work that a producer hands over out of a lineage that goes on', () => {
  test('H-T85 is a child that has stalled: looked at first, then it goes the way of every stall', () => {
    const play = running();
    expect(escalate(play)).toEqual(['child_submitted', 'task_stalled', 'node_ready']);
    expect(play.on(API).ready).toMatchObject({ task: API, run_kind: 'check', purpose: 'met_meanwhile' });
    expect(play.on(API).unmet('a')).toEqual(['run_counted', 'decomposition_requested']);
    expect(play.last('child_submitted')).toMatchObject({ run: null, origin: { stage: 'review' } });
    expect(play.task(API).brief?.justifications).toEqual([expect.objectContaining({ validator: 'review' })]);
  });

  test('H-T86 without a task goes to the council at once, and is done when its children are', () => {
    const play = running();
    expect(escalate(play, 'k', [])).toEqual(['child_submitted', 'task_stalled', 'decomposition_requested']);
    play.split(API, [slice('a'), slice('b')]);
    play.done(`${API}.1`);
    expect(play.done(`${API}.2`)).toEqual(expect.arrayContaining(['task_completed', 'epic_closed']));
    expect(play.task(API).status).toBe('completed');
  });

  test('keeps the root from its end, and lets it go on when it is met', () => {
    const play = running();
    escalate(play);
    expect(play.on(ROOT).judge()).toEqual(['node_completed']);
    expect(play.on(API).judge()).toEqual(expect.arrayContaining(['task_completed', 'epic_child_resolved']));
    expect(play.root.status).toBe('completed');
  });

  test('is one child under one key', () => {
    const play = running();
    escalate(play);
    expect(escalate(play)).toEqual([]);
    expect(() => escalate(play, 'k', [nodeSpec({ id: 'other' })])).toThrow('idempotency_key_reused');
    expect(escalate(play, 'other')).toContain('child_submitted');
  });

  test('counts as a child, and finds no place where there is none, or after the end', () => {
    const play = running(mode({ max_total_decomposition_children: 1 }));
    escalate(play);
    expect(() => escalate(play, 'other')).toThrow('no_children_left');
    play.send({ type: 'cancel_task', task: ROOT, reason: '' });
    expect(() => escalate(play, 'third')).toThrow('lineage_ended');
    expect(escalate(play)).toEqual([]);
  });
});
