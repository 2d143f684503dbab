import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { commandHolds, executorWorld } from './run-reader.fixture.ts';

let world: ReturnType<typeof executorWorld>;
beforeEach(() => {
  world = executorWorld();
});
afterEach(() => world.close());

const MAKES = 'mkdir -p api web && echo a > api/a';

const ran = async (command: string, paths: string[][], more: object = {}) => {
  const source = { url: world.repository(), ref: 'main' };
  const node = { recipe: { command }, postcondition: commandHolds('test -f api/a') };
  await world.offer(await world.gated({ ...node, ...more }, { source, paths }));
  return world.report();
};

describe('a run of a declared part', () => {
  test('that stays within its paths is good', async () => {
    expect(await ran(MAKES, [['api/**']])).toMatchObject({ outcome: 'satisfied' });
  });

  test('that changes a file elsewhere is unmet, says which and what it may change, and leaves it to be looked at', async () => {
    const report = await ran(`${MAKES} && echo b > web/b && echo red > colour`, [['api/**']]);
    expect(report).toMatchObject({ outcome: 'unmet', postcondition_met: true });
    expect(report.detail).toBe('changed outside of its paths: colour, web/b; this part may change only api/**');
    expect(report.workspace_ref).toMatchObject({ tree: expect.any(String) });
  });

  test('is no better for a policy that goes on anyway', async () => {
    const outside = `${MAKES} && echo red > colour`;
    expect(await ran(outside, [['api/**']], { policy: 'best_effort' })).toMatchObject({ outcome: 'unmet' });
  });

  test('that has nothing to do is good wherever its files are', async () => {
    const node = { recipe: { command: 'false' }, postcondition: commandHolds('test -f colour') };
    const source = { url: world.repository(), ref: 'main' };
    await world.offer(await world.gated(node, { source, paths: [['api/**']] }));
    expect(await world.report()).toMatchObject({ outcome: 'satisfied', rung: 'skip' });
  });
});
