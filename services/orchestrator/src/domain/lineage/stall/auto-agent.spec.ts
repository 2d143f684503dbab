import { describe, expect, test } from '@jest/globals';
import { mode, nodeSpec, Play, ref, taskSpec, verdict } from '../lineage.fixture.ts';

/** A unit whose three runs were unmet, in an installation whose model `smith` can act as an agent. */
const stalled = (bounds = {}, node = nodeSpec({ model: 'smith' })): Play => {
  const play = new Play(mode(bounds));
  play.known = { agentModels: ['smith'] };
  play.submit(taskSpec([node]));
  for (const tree of ['a', 'b', 'c']) play.unmet(tree);
  return play;
};

describe('an agent', () => {
  test('H-T79 H-B08 X31 is asked before the council, once the goal is known not to be met meanwhile', () => {
    const play = stalled();
    expect(play.last('task_stalled').auto_agent).toEqual({ outcome: 'available', model: 'smith', attempts: 3 });
    expect(play.ready).toMatchObject({ run_kind: 'check', purpose: 'met_meanwhile' });
    expect(play.unmet('c')).toEqual(['run_counted', 'node_ready']);
    expect(play.ready).toMatchObject({ run_kind: 'agent', purpose: 'auto_agent', workspace_ref: null });
  });

  test('is told the whole stall: what was used up, what was said, and where the work stands', () => {
    const play = stalled();
    play.unmet('elsewhere');
    expect(play.ready.stalled).toMatchObject({
      ...{ counter: 'execute', halt_type: 'unmet', raw_halt_type: 'execute', detail: 'not there' },
      ...{ attempt: 1, attempts: 3, model: 'smith', diff: ref('c') },
    });
    expect(play.ready.brief).toMatchObject({ intent: 'All is committed', justifications: [{ validator: 'execute' }] });
  });

  test('H-T94 that makes it good completes the unit, and nobody is asked for a split', () => {
    const play = stalled();
    play.unmet();
    expect(play.judge()).toEqual(['node_completed', 'task_completed']);
    expect(play.last('node_completed').agent_attempts).toBe(1);
    expect(play.count('decomposition_requested')).toBe(0);
  });

  test('H-T91 has three tries, never one more, and then the council is asked', () => {
    const play = stalled();
    for (let attempt = 1; attempt <= 3; attempt++) {
      play.unmet();
      expect(play.ready).toMatchObject({ run_kind: 'agent', stalled: { attempt } });
      expect(play.unmet(`agent ${attempt}`)).toEqual(['run_counted', 'node_ready']);
      expect(play.last('run_counted')).toMatchObject({ run_kind: 'agent', agent_attempts: attempt });
    }
    expect(play.unmet()).toEqual(['run_counted', 'decomposition_requested']);
    expect(play.last('decomposition_requested').workspace_ref).toEqual(ref('agent 3'));
    expect(play.unit.agentAttempts).toBe(3);
  });

  test('that has had its tries is told of to the human who is asked', () => {
    const play = stalled({ auto_agent_max_attempts: 1 });
    play.unmet();
    play.unmet('agent');
    play.unmet();
    play.noSplit();
    expect(play.last('human_required').tried.auto_agent).toBe('tried: 1 of 1');
  });

  test('judged bad has used its attempt, and no fix is spawned', () => {
    const play = stalled({ auto_agent_max_attempts: 1 });
    play.unmet();
    expect(play.judge([verdict('lint')])).toEqual(['run_counted', 'node_ready']);
    expect(play.last('run_counted')).toMatchObject({ judged: 'recover', agent_attempts: 1 });
    expect(play.unmet()).toEqual(['run_counted', 'decomposition_requested']);
    expect(play.count('subtask_spawned')).toBe(0);
  });

  test('H-T95 X01 whose machinery fails has used nothing', () => {
    const play = stalled();
    play.unmet();
    expect(play.end({ outcome: 'faulted', fault_class: 'network' })).toEqual(['fault_recorded']);
    play.retry();
    expect(play.ready).toMatchObject({ run_kind: 'agent', stalled: { attempt: 1 } });
  });

  test.each([
    ['no model that can act as one is named', {}, nodeSpec(), 'no_model'],
    ['the mode wants none', { auto_agent_max_attempts: 0 }, nodeSpec({ model: 'smith' }), 'not_wanted'],
  ])('H-T35 is skipped, and said to be, when %s', (_, bounds, node, reason) => {
    const play = stalled(bounds, node);
    expect(play.last('task_stalled').auto_agent).toEqual({ outcome: 'skipped', reason });
    expect(play.unmet()).toEqual(['run_counted', 'decomposition_requested']);
  });

  test('of the mode goes before that of the node', () => {
    const play = new Play({ ...mode(), auto_agent_model: 'brand' });
    play.known = { agentModels: ['smith', 'brand'] };
    play.submit(taskSpec([nodeSpec({ model: 'smith' })]));
    for (const tree of ['a', 'b', 'c', 'd']) play.unmet(tree);
    expect(play.ready.stalled?.model).toBe('brand');
  });

  test('works for a gate, too, whose own recipe then says whether it holds', () => {
    const play = stalled({}, nodeSpec({ kind: 'gate', postcondition: null, model: 'smith' }));
    play.unmet();
    expect(play.ready).toMatchObject({ run_kind: 'agent', node: { kind: 'gate', recipe: { command: 'make it' } } });
  });

  test('gets no run beyond the iterations of the node', () => {
    const play = stalled({ iterations: 4 });
    expect(play.unmet()).toEqual(['run_counted', 'decomposition_requested']);
  });
});
