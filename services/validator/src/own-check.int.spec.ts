import { readEvent } from '@fixpoint/contracts/events/parse-event';
import { runTokenClaimsSchema, runTokenParts } from '@fixpoint/contracts/run-token';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { validatorOf, validatorWorld } from './validator.fixture.ts';

// Real processes on a busy machine.
jest.setTimeout(30_000);

let world: Awaited<ReturnType<typeof validatorWorld>>;
afterEach(() => world.close());

const NEVER = validatorOf('never', { command: 'exit 1' });

describe('verified work that is landed', () => {
  const judged = async (kind: 'integrate' | 'deliver' | 'agent' | 'normal', action = {}) => {
    world = await validatorWorld({ mode: { post: [NEVER] } });
    const offer = await world.ended({ run_kind: kind, ...action }, { more: { run_kind: kind } });
    expect(await world.askJudge(offer)).toEqual({ verdict: 'done' });
    const [, answer] = await world.answers();
    if (answer?.type !== 'post_validated') throw new Error(JSON.stringify(answer));
    return readEvent(answer, 'post_validated');
  };

  test.each([
    ['integrate', true, 'merged without a clash, and the postcondition is met by the whole'],
    ['integrate', null, 'merged without a clash; there is no postcondition that could be asked of the whole'],
    ['deliver', true, 'the branch holds the result'],
  ] as const)('is judged by its own check and by nobody else (%s, %s)', async (kind, met, justification) => {
    const answer = await judged(kind, { postcondition_met: met });
    expect(answer).toMatchObject({ outcome: 'proceed', reason: 'own_check', triggering_validators: [] });
    expect(answer.verdicts).toEqual([
      expect.objectContaining({ validator: 'postcondition', severity: 'pass', justification }),
    ]);
  });

  test('does not hide that a run changed what judges it', async () => {
    const { outcome, verdicts } = await judged('integrate', { firewall_broken: 'a protected path was changed' });
    expect([outcome, ...verdicts.map(({ validator }) => validator)]).toEqual(['halt', 'postcondition', 'firewall']);
  });

  test.each(['agent', 'normal'] as const)('is unlike a run of kind %s, which all validators judge', async (kind) => {
    expect((await judged(kind)).verdicts.map(({ validator }) => validator)).toEqual(['postcondition', 'never']);
  });
});

describe('the gate of a run that lands verified work', () => {
  const passed = async (more: Parameters<typeof world.ready>[1], mode = {}) => {
    world = await validatorWorld({ mode });
    expect(
      await world.askGate(await world.ready({ recipe: { primitive: 'noop', with: {} }, postcondition: null }, more)),
    ).toEqual({
      verdict: 'done',
    });
    return (await world.answers())[0];
  };

  test.each(['integrate', 'deliver', 'agent'] as const)(
    'gives %s a token of its kind, and calls it long',
    async (run_kind) => {
      const answer = await passed({ run_kind });
      expect(answer).toMatchObject({ type: 'governance_passed', data: { run_kind, work: 'long' } });
      const { token } = readEvent(answer as never, 'governance_passed');
      const claims = Buffer.from(runTokenParts(token)?.claims ?? '', 'base64url').toString();
      expect(runTokenClaimsSchema.parse(JSON.parse(claims))).toMatchObject({ run_kind });
    },
  );

  test('is asked the rules of the mode, which may tell the kinds apart', async () => {
    const rule = {
      id: 'no-push',
      deny: 'task.run_kind == "deliver"',
      severity: 'blocker',
      overridable: false,
      message: 'no',
    };
    expect(await passed({ run_kind: 'deliver' }, { governance_rules: [rule] })).toMatchObject({
      type: 'governance_blocked',
    });
  });
});
