import { describe, expect, test } from '@jest/globals';
import { mode, nodeSpec, Play, ROOT, taskSpec } from '../lineage.fixture.ts';
import { taskOf } from '../lookup.ts';
import { exclusionOf } from './exclusions.ts';

/** Without a check of its own, so that the pipeline goes on at once. */
const stall = (play: Play): Play => {
  play.submit(taskSpec([nodeSpec({ postcondition: null })]));
  play.unmet('a');
  play.unmet('a');
  return play;
};

describe('a unit that must not be split', () => {
  test.each([
    ['max_decomposition_depth', 0, 'depth', { children_left: 8, depth_left: 0 }],
    ['max_total_decomposition_children', 1, 'children', { children_left: 1, depth_left: 2 }],
  ])('X26 X27 is a human’s at the cap %s of %i, and no model is asked', (bound, limit, reason, budget) => {
    const play = stall(new Play(mode({ [bound]: limit })));
    expect(play.facts.slice(-3).map(({ type }) => type)).toEqual([
      'split_excluded',
      'human_required',
      'affinity_changed',
    ]);
    expect(play.last('split_excluded')).toMatchObject({ task: ROOT, reason, budget });
    expect(play.last('human_required').detail).toContain('not split');
    expect(play.count('decomposition_requested')).toBe(0);
  });

  test.each([
    ['max_decomposition_depth', 1],
    ['max_total_decomposition_children', 2],
  ])('X06 is asked about one above the cap: %s of %i', (bound, limit) => {
    const play = stall(new Play(mode({ [bound]: limit })));
    expect(play.count('split_excluded')).toBe(0);
    expect(play.count('decomposition_requested')).toBe(1);
  });

  test('H-T90 H-T96 is not split while a human has it', () => {
    const play = new Play().submit(taskSpec([nodeSpec({ postcondition: null })]));
    play.unmet('a');
    play.letter();
    expect(play.unmet('a')).toEqual([
      'run_counted',
      'task_stalled',
      'split_excluded',
      'handoff_updated',
      'affinity_changed',
    ]);
    expect(play.last('split_excluded').reason).toBe('human_held');
  });

  test('H-B05 is not split for what the machinery did', () => {
    const play = stall(new Play());
    const state = play.state;
    const unit = {
      ...play.unit,
      stall: play.unit.stall && { ...play.unit.stall, haltType: 'environment_error' as const },
    };
    const turn = {
      state: { ...state, units: { [ROOT]: unit } },
      now: play.now,
      admission: play.admission,
      mode: play.mode,
      askCondition: () => ({ holds: true }),
    };
    expect(exclusionOf(turn, taskOf(turn.state, ROOT))).toBe('machinery');
    expect(exclusionOf(turn, { ...taskOf(turn.state, ROOT), epic: `${ROOT}.e1` })).toBe('already_split');
    expect(exclusionOf(turn, { ...taskOf(turn.state, ROOT), kind: 'fix' })).toBe('fix');
  });
});
