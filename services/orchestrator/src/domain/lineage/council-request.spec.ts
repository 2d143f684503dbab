import { askCondition } from '@fixpoint/validation/condition';
import { describe, expect, test } from '@jest/globals';
import { jsonBytes } from './bounded.ts';
import { councilRequest } from './council-request.ts';
import { NOW, nodeSpec, Play, ROOT, ref, taskSpec, verdict } from './lineage.fixture.ts';
import type { Task } from './state.ts';

const part = (name: string, text = '') => ({
  name,
  goal: `${name} is done${text}`,
  paths: [`${name}/**`],
  nodes: [nodeSpec({ id: name })],
  parts: [],
});

const contextOf = ({ now, mode }: Play) => ({ now, mode, askCondition });

const requestOf = (play: Play, task: Task = play.root) =>
  councilRequest({ ...contextOf(play), state: play.state }, task).data;

describe('what a council is told of a unit', () => {
  test('is its goal, the node that stalled, where it stands and what it may use', () => {
    const play = new Play().submit(taskSpec([nodeSpec({ id: 'one' }), nodeSpec({ id: 'two' })]));
    play.judge([], { workspace_ref: ref('accepted') });
    play.unmet('a');
    play.unmet('b');
    const asked = requestOf(play);
    expect(asked).toMatchObject({
      task: ROOT,
      request: 1,
      node: { id: 'two' },
      nodes: [{ id: 'one' }, { id: 'two' }],
      declared_parts: null,
      split_depth: 0,
      hint: null,
      base_ref: ref('accepted'),
      workspace_ref: ref('b'),
    });
    expect(asked.budget.children_left).toBe(8);
    expect(asked.budget.depth_left).toBe(2);
    expect(asked.budget.time_ms).toBe(900_000);
  });

  test('holds the parts that the task declares', () => {
    const play = new Play().submit({ ...taskSpec(), parts: [part('api'), part('web')] });
    expect(requestOf(play).declared_parts).toEqual([part('api'), part('web')]);
  });

  test('H-T07 U-T31 holds what failed before, the newest where there is no room for all', () => {
    const play = new Play().submit();
    play.judge([verdict('lint')], { workspace_ref: ref('x') });
    expect(requestOf(play).failures).toMatchObject([{ validator: 'lint', attempt: 1 }]);
    const unit = play.unit;
    const failures = Array.from({ length: 20 }, (_, attempt) => ({
      ...{ attempt, task: ROOT, validator: 'lint', severity: 'blocker' },
      justification: 'x'.repeat(3000),
    }));
    const state = { ...play.state, units: { [ROOT]: { ...unit, failures } } };
    const told = councilRequest({ ...contextOf(play), state }, play.root).data.failures;
    expect(told.map(({ attempt }) => attempt)).toEqual([16, 17, 18, 19]);
    expect(jsonBytes(told)).toBeLessThan(8192);
  });

  test('fits into an event: what is least needed is left out first', () => {
    const play = new Play().submit({ ...taskSpec(), parts: [part('api', 'x'.repeat(30_000)), part('web')] });
    const { root } = play;
    const large = (bytes: number) => ({ ...root, nodes: [nodeSpec({ goal: 'y'.repeat(bytes) })] });
    expect(requestOf(play, large(20_000))).toMatchObject({ nodes: [], declared_parts: [{ name: 'api' }, {}] });
    const larger = requestOf(play, large(50_000));
    expect(larger).toMatchObject({ nodes: [], declared_parts: null, node: { goal: 'y'.repeat(50_000) } });
    expect(jsonBytes(larger)).toBeLessThan(64 * 1024);
  });

  test('is the node as written when a value of it is missing', () => {
    const play = new Play().submit();
    const task = { ...play.root, nodes: [nodeSpec({ goal: '${{ inputs.x }}', templated: true })] };
    expect(requestOf(play, task).node).toMatchObject({ goal: '${{ inputs.x }}' });
  });

  test('gives the council no more time than the lineage has', () => {
    const play = new Play().submit();
    const state = { ...play.state, deadlineAt: new Date(Date.parse(NOW) + 7000).toISOString() };
    const { budget } = councilRequest({ ...contextOf(play), now: NOW, state }, play.root).data;
    expect(budget.time_ms).toBe(7000);
  });
});
