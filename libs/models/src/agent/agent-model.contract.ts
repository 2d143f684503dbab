import { describe, expect, test } from '@jest/globals';
import { modelAccount } from '../model-account.ts';
import type { AgentBrief, AgentModel, AgentToolResult } from './agent-model.ts';
import type { AgentCall, AgentTool } from './agent-tools.ts';

const OK: AgentToolResult = { outcome: 'ok', exitCode: 0, stdout: '', stderr: '', detail: '' };
const ENOUGH = { money_micros: 1_000_000, tokens: 100_000 };

interface Subject {
  readonly model: AgentModel;
  /** Work for which the model runs a command. */
  readonly doable: AgentBrief;
}

/** What every agent promises. */
export const agentModelContract = (name: string, subject: () => Promise<Subject>): void => {
  /** Lets it work with the tools that are allowed. */
  const worked = async (allowed: readonly AgentTool[], signal = new AbortController().signal) => {
    const { model, doable } = await subject();
    const calls: AgentCall[] = [];
    const call = async (each: AgentCall): Promise<AgentToolResult> => {
      calls.push(each);
      return OK;
    };
    const account = modelAccount(ENOUGH);
    return {
      calls,
      account,
      work: () => model.run(doable, { tools: { allowed, call }, account, mostSteps: 10 }, signal),
    };
  };

  describe(`${name} as an agent`, () => {
    test('works with the tools that it is given, and says what it did and what that cost', async () => {
      const { calls, account, work } = await worked(['run_command']);
      expect(await work()).toMatchObject({ outcome: 'worked', summary: expect.stringMatching(/\S/) });
      expect(calls.length).toBeGreaterThan(0);
      expect(account.spent().tokens).toBeGreaterThan(0);
    });

    test('declines, with a reason, where no tool is allowed', async () => {
      const { calls, work } = await worked([]);
      expect(await work()).toMatchObject({ outcome: 'declined', summary: expect.stringMatching(/\S/) });
      expect(calls).toEqual([]);
    });

    test('does nothing once it is told to stop', async () => {
      const { calls, work } = await worked(['run_command'], AbortSignal.abort());
      await Promise.allSettled([work()]);
      expect(calls).toEqual([]);
    });
  });
};
