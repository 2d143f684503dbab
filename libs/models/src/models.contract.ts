import { describe, expect, test } from '@jest/globals';
import { modelAccount } from './model-account.ts';
import type { FailedCommand, RepairModel } from './models.ts';

interface Subject {
  readonly model: RepairModel;
  /** A failure that the model has a correction for. */
  readonly repairable: FailedCommand;
}

/** What every repair model promises. */
export const repairModelContract = (name: string, subject: () => Promise<Subject>): void => {
  const signal = new AbortController().signal;
  const account = modelAccount({ money_micros: 1_000_000, tokens: 1_000_000 });

  const proposed = async (): Promise<Subject & { corrected: string }> => {
    const { model, repairable } = await subject();
    const proposal = await model.propose(repairable, account, signal);
    if (proposal.kind !== 'proposed') throw new Error(`declined: ${proposal.reason}`);
    return { model, repairable, corrected: proposal.corrected };
  };

  describe(`${name} as a repair model`, () => {
    test('proposes another command, says what proposed it, and why', async () => {
      const { model, repairable } = await subject();
      const proposal = await model.propose(repairable, account, signal);
      expect(proposal).toEqual({
        kind: 'proposed',
        corrected: expect.stringMatching(/\S/),
        rule: expect.stringMatching(/\S/),
        reasoning: expect.stringMatching(/\S/),
      });
      expect(proposal).not.toHaveProperty('corrected', repairable.command);
    });

    test('never proposes a command that was run before in this run', async () => {
      const { model, repairable, corrected } = await proposed();
      const again = await model.propose(
        { ...repairable, attempt: 2, previous: [repairable.command, corrected] },
        account,
        signal,
      );
      expect(again).not.toHaveProperty('corrected', corrected);
    });

    test('declines, with a reason, what it does not understand', async () => {
      const { model, repairable } = await subject();
      const output = { head: 'zzz', tail: 'zzz' };
      const strange = { ...repairable, command: 'zzz', exitCode: 97, stdout: output, stderr: output };
      expect(await model.propose(strange, account, signal)).toEqual({
        kind: 'declined',
        reason: expect.stringMatching(/\S/),
      });
    });

    test('answers the same question the same way', async () => {
      const { model, repairable } = await subject();
      expect(await model.propose(repairable, account, signal)).toEqual(
        await model.propose(repairable, account, signal),
      );
    });
  });
};
