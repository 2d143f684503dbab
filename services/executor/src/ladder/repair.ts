import { isProgram, type NodeSpec, type ProgramRecipe } from '@fixpoint/contracts/documents/task';
import type { Output, Program } from '@fixpoint/execution/runner';
import type { ModelAccount } from '@fixpoint/models/model-account';
import type { OutputEnds, RepairModel } from '@fixpoint/models/models';
import type { RepairProposal, Trace } from './trace.ts';

/** What a repair model made of a failure; `proposal` null: it has no better command. */
export interface RepairAnswer {
  readonly proposal: RepairProposal | null;
  readonly reason: string;
}

export type AskRepair = (trace: Trace) => Promise<RepairAnswer>;

export interface RepairSetting {
  readonly model: RepairModel;
  readonly node: NodeSpec;
  readonly account: ModelAccount;
  readonly signal: AbortSignal;
}

/** Asks a model about the last command of one run; it is told every text that was run before and proposes none again. */
export const askRepair = ({ model, node, account, signal }: RepairSetting): AskRepair => {
  const previous: string[] = [];
  return async ({ last }) => {
    const { recipe } = node;
    if (!isProgram(recipe) || last === null) return { proposal: null, reason: 'there is no command to correct' };
    previous.push(last.command);
    const { result } = last;
    const proposal = await model.propose(
      {
        goal: node.goal,
        command: last.command,
        language: 'command' in recipe ? 'sh' : recipe.language,
        exitCode: result?.exitCode ?? null,
        signal: result?.signal ?? null,
        timedOut: result?.status === 'timed_out',
        stdout: endsOf(result?.stdout),
        stderr: endsOf(result?.stderr),
        attempt: previous.length,
        previous,
      },
      account,
      signal,
    );
    if (proposal.kind === 'declined') return { proposal: null, reason: proposal.reason };
    return {
      proposal: { program: correctedProgram(recipe, proposal.corrected), rule: proposal.rule },
      reason: proposal.reasoning,
    };
  };
};

const correctedProgram = (recipe: ProgramRecipe, text: string): Extract<Program, { kind: 'shell' | 'script' }> =>
  'command' in recipe ? { kind: 'shell', text } : { kind: 'script', language: recipe.language, text };

/** A short output is its own head and tail. */
export const endsOf = (output: Output | undefined): OutputEnds => {
  if (output === undefined) return { head: '', tail: '' };
  return { head: output.head, tail: output.tail === '' ? output.head : output.tail };
};
