import { describe, expect, test } from '@jest/globals';
import type { AgentBrief, AgentModel, AgentToolResult } from './agent-model.ts';

const OK: AgentToolResult = { outcome: 'ok', exitCode: 0, stdout: '', stderr: '', detail: '' };
const bounds = { timeMs: 60_000, moneyMicros: null, tokens: null };

interface Subject {
  readonly model: AgentModel;
  /** Work for which the model runs a command. */
  readonly doable: AgentBrief;
}

/** What every agent promises. */
export const agentModelContract = (name: string, subject: () => Promise<Subject>): void => {
  /** Lets it work with the tools that are allowed. */
  const worked = async (allowed: readonly 'shell'[], signal = new AbortController().signal) => {
    const { model, doable } = await subject();
    const commands: string[] = [];
    const shell = async (command: string): Promise<AgentToolResult> => {
      commands.push(command);
      return OK;
    };
    return { commands, work: await model.run(doable, { tools: { allowed, shell }, bounds }, signal) };
  };

  describe(`${name} as an agent`, () => {
    test('works with the tools that it is given, and says what it did and what that cost', async () => {
      const { commands, work } = await worked(['shell']);
      expect(commands.length).toBeGreaterThan(0);
      expect(work).toMatchObject({ outcome: 'worked', summary: expect.stringMatching(/\S/) });
      expect(work.spent.moneyMicros).toBeGreaterThanOrEqual(0);
      expect(work.spent.tokens).toBeGreaterThanOrEqual(0);
    });

    test('declines, with a reason, where no tool is allowed', async () => {
      const { commands, work } = await worked([]);
      expect(commands).toEqual([]);
      expect(work).toMatchObject({ outcome: 'declined', summary: expect.stringMatching(/\S/) });
    });

    test('does nothing once it is told to stop', async () => {
      const { commands } = await worked(['shell'], AbortSignal.abort());
      expect(commands).toEqual([]);
    });
  });
};
