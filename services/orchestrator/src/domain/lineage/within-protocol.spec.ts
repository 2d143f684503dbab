import { describe, expect, test } from '@jest/globals';
import { nodeSpec, Play, ROOT, ref, taskSpec, verdict } from './lineage.fixture.ts';
import { withinProtocol } from './within-protocol.ts';

const REASON = 'its lint says yes to everything';

/** A lineage with a run in flight, whose protocol was withdrawn meanwhile. */
const withdrawn = (nodes = [nodeSpec({ id: 'one' }), nodeSpec({ id: 'two' })]): Play => {
  const play = new Play().submit(taskSpec(nodes));
  play.known = { withdrawn: REASON };
  return play;
};

describe('a lineage under a withdrawn protocol', () => {
  test('F17 H-T87 ends the run that it has, starts no other and asks a human', () => {
    const play = withdrawn();
    expect(play.judge([], { workspace_ref: ref('one') })).toEqual(['node_completed', 'human_required']);
    expect(play.last('human_required')).toMatchObject({
      ...{
        task: ROOT,
        raw_halt_type: 'protocol_withdrawn',
        help: 'infrastructure',
        detail: `p@1 was withdrawn: ${REASON}`,
      },
    });
    expect(play.root.accepted).toEqual(ref('one'));
  });

  test('may still be completed by the run that it has', () => {
    expect(withdrawn([nodeSpec()]).judge()).toEqual(['node_completed', 'task_completed']);
  });

  test.each([
    ['another attempt', (play: Play) => play.unmet('a'), ['run_counted', 'human_required']],
    ['a fix', (play: Play) => play.judge([verdict('lint')]), ['run_counted', 'human_required']],
  ])('starts not even %s', (_, answer, expected) => {
    expect(answer(withdrawn())).toEqual(expected);
  });

  test('is not told twice while the human has not decided, and goes on when he has', () => {
    const play = withdrawn();
    play.judge();
    const [told] = Object.values(play.state.units);
    expect(told?.toldOfWithdrawal).toBe(true);
    const turn = { ...play, now: play.now, mode: play.mode, askCondition: () => ({ holds: true }), withdrawn: REASON };
    const start = play.facts.find(({ type }) => type === 'node_ready');
    const facts = start === undefined ? [] : [start];
    expect(withinProtocol({ ...turn, state: play.state }, facts)).toEqual([]);
    const decided = { ...play.state, units: { [ROOT]: { ...play.unit, handoff: null } } };
    expect(withinProtocol({ ...turn, state: decided }, facts)).toEqual(facts);
  });
});
