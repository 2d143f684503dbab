import type { Recipe } from '@fixpoint/contracts/documents/task';
import type { AgentBrief, AgentModel } from '@fixpoint/models/agent/agent-model';
import { AGENT_TOOLS } from '@fixpoint/models/agent/agent-tools';
import type { ModelAccount } from '@fixpoint/models/model-account';
import type { AgentAnswer, AskAgent } from '../ladder/agent.ts';
import { endsOf } from '../ladder/repair.ts';
import type { Trace } from '../ladder/trace.ts';
import { type AgentToolsDeps, agentTools } from './agent-tools.ts';
import type { NodeReady } from './assignment.ts';

/** A run came to an executor that has no model of that name, or none that can do this. */
export class NoSuchModel extends Error {
  override readonly name = 'NoSuchModel';
}

interface AgentSetting extends Omit<AgentToolsDeps, 'allowed' | 'remainingMs' | 'signal'> {
  readonly model: AgentModel;
  readonly nodeReady: NodeReady;
  readonly trace: Trace;
  readonly account: ModelAccount;
  readonly mostSteps: number;
  readonly signal: AbortSignal;
}

/** Lets an agent work in the folder of a run, with the tools that the task allows, as long as the run may take. */
export const askAgent = ({ model, nodeReady, trace, account, mostSteps, signal, ...means }: AgentSetting): AskAgent => {
  const allowed = AGENT_TOOLS.filter((tool) => nodeReady.node.agent_tools.includes(tool));
  return async (remainingMs) => {
    const inTime = AbortSignal.timeout(Math.ceil(remainingMs()));
    const stop = AbortSignal.any([signal, inTime]);
    const call = agentTools({ ...means, allowed, remainingMs, signal: stop });
    const work = await model
      .run(briefOf(nodeReady, trace), { tools: { allowed, call }, account, mostSteps }, stop)
      .catch((error: unknown) => stopped(error, [signal, inTime]));
    return { ...work, model: model.name };
  };
};

/** One that was told to stop may say so by any error. */
const stopped = (error: unknown, signals: readonly AbortSignal[]): Omit<AgentAnswer, 'model'> => {
  if (!signals.some(({ aborted }) => aborted)) throw error;
  return { outcome: 'worked', summary: 'it was stopped' };
};

const briefOf = ({ intent, node, brief }: NodeReady, { last }: Trace): AgentBrief => ({
  intent,
  goal: node.goal,
  recipe: recipeText(node.recipe),
  postcondition: node.postcondition === null ? null : JSON.stringify(node.postcondition),
  brief,
  failed: last && {
    command: last.command,
    exitCode: last.result?.exitCode ?? null,
    stdout: endsOf(last.result?.stdout),
    stderr: endsOf(last.result?.stderr),
  },
});

const recipeText = (recipe: Recipe): string => {
  if ('command' in recipe) return recipe.command;
  if ('worker' in recipe) return `worker ${recipe.worker} ${JSON.stringify(recipe.with)}`;
  return 'script' in recipe
    ? `# ${recipe.language}\n${recipe.script}`
    : `${recipe.primitive} ${JSON.stringify(recipe.with)}`;
};
