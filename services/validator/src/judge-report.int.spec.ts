import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { validatorOf, validatorWorld } from './validator.fixture.ts';

// Real git and processes on a busy machine.
jest.setTimeout(30_000);

const command = "if test -e bad; then printf '1..1\\nnot ok 1 - no bad file\\n'; exit 1; fi; printf '1..1\\nok 1\\n'";

let world: Awaited<ReturnType<typeof validatorWorld>>;
beforeEach(async () => {
  world = await validatorWorld({ mode: { post: [validatorOf('tests', { report: { format: 'tap', command } })] } });
});
afterEach(() => world.close());

test.each([
  ['good', { outcome: 'proceed' }],
  [
    'bad',
    {
      outcome: 'recover',
      triggering_validators: ['tests'],
      verdicts: [{}, { criteria: ['no bad file'], findings: [{ rule: 'not_ok' }] }],
    },
  ],
])('a judgement by a report says what stands in it: %s', async (name, expected) => {
  await world.askJudge(await world.ended({ workspace_ref: await world.worked(`echo x > ${name}`) }));
  expect((await world.answers())[1]).toMatchObject({ type: 'post_validated', data: expected });
  expect(world.copies()).toEqual([]);
});
