import { describe, expect, test } from '@jest/globals';
import { nodeSpec, Play, ROOT, taskSpec } from '../lineage.fixture.ts';
import { type Turn, taskOf } from '../lookup.ts';
import type { Unit } from '../state.ts';
import { afterStallStep } from './next-step.ts';

/** A unit that has stalled and was asked about, with something about it changed. */
const stalledWith = (change: (unit: Unit) => Partial<Unit>): Turn => {
  const play = new Play().submit(taskSpec([nodeSpec({ postcondition: null })]));
  play.unmet('a');
  play.unmet('a');
  const unit = { ...play.unit, ...change(play.unit) };
  const { now, mode, admission } = play;
  return {
    state: { ...play.state, units: { [ROOT]: unit } },
    now,
    mode,
    admission,
    askCondition: () => ({ holds: true }),
  };
};

const typesAfter = (turn: Turn): string[] => afterStallStep(turn, taskOf(turn.state, ROOT)).map(({ type }) => type);

describe('the next step of a stalled unit', () => {
  test('U-T40 is the council where nothing stands against a split', () => {
    expect(typesAfter(stalledWith(() => ({})))).toEqual(['decomposition_requested']);
  });

  test('is whoever keeps the machines when they are what is wrong, and says what was said', () => {
    const turn = stalledWith(({ stall }) => ({
      stall: stall && { ...stall, haltType: 'environment_error', detail: 'the disk is full' },
    }));
    expect(typesAfter(turn)).toEqual(['split_excluded', 'human_required', 'affinity_changed']);
    expect(afterStallStep(turn, taskOf(turn.state, ROOT))[1]?.data).toMatchObject({
      help: 'infrastructure',
      detail: expect.stringContaining('the disk is full'),
    });
  });
});
