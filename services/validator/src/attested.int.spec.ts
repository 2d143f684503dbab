import type { SignedDecision } from '@fixpoint/contracts/human-decision';
import { afterEach, describe, expect, test } from '@jest/globals';
import { validatorWorld } from './validator.fixture.ts';

const worlds: { close: () => void }[] = [];
afterEach(() => {
  for (const world of worlds.splice(0)) world.close();
});

const WORD: SignedDecision = {
  ...{ root: 'r', task: 'r', handoff: 'r.h1', handoff_version: 1, decision_id: 'd1', who: 'ada' },
  ...{ authenticated: 'api_key', comment_hash: null, when: '2026-01-01T00:00:00.000Z' },
  what: { kind: 'resolve', ref: null, exclude_children: [] },
};

/** The judgement of a check of a node that has none, which a human said is done. */
const judged = async (believed: readonly SignedDecision[]): Promise<unknown> => {
  const world = await validatorWorld({ mode: { post: [] } });
  worlds.push(world);
  const offer = await world.ended(
    { run_kind: 'check', postcondition_met: null },
    { node: { postcondition: null }, more: { run_kind: 'check', decisions: ['a.b.c'] } },
  );
  await world.askJudge(offer, { ...world.deps(), decisions: async () => believed });
  const [, event] = await world.answers();
  return event?.data;
};

describe('a node without a check that a human says is done', () => {
  test('is done by their word, which the judgement names', async () => {
    expect(await judged([WORD])).toMatchObject({
      ...{ outcome: 'proceed_with_log', reason: 'attested' },
      verdicts: [
        { validator: 'postcondition', justification: 'attested by ada (decision d1); there is no postcondition' },
      ],
    });
  });

  test('is not done where nobody whom we believe has signed that', async () => {
    expect(await judged([])).toMatchObject({ outcome: 'recover', triggering_validators: ['postcondition'] });
  });
});
