import type { Recipe } from '@fixpoint/contracts/documents/task';
import type { AgentBrief, AgentModel, AgentToolResult } from '@fixpoint/models/agent/agent-model';
import { AGENT_TOOLS, type AgentCall, type AgentTool } from '@fixpoint/models/agent/agent-tools';
import type { ModelAccount } from '@fixpoint/models/model-account';
import type { AgentAnswer, AskAgent } from '../ladder/agent.ts';
import type { RecordCall, RecordedCommands } from '../ladder/recorded-commands.ts';
import type { NodeReady } from './assignment.ts';

/** A run came to an executor that has no model of that name, or none that can do this. */
export class NoSuchModel extends Error {
  override readonly name = 'NoSuchModel';
}

interface AgentSetting {
  readonly model: AgentModel;
  readonly nodeReady: NodeReady;
  readonly commands: RecordedCommands;
  readonly record: RecordCall;
  readonly account: ModelAccount;
  readonly signal: AbortSignal;
}

/** Lets an agent work in the folder of a run, with the tools that the task allows, as long as the run may take. */
export const askAgent = ({ model, nodeReady, commands, record, account, signal }: AgentSetting): AskAgent => {
  const allowed = AGENT_TOOLS.filter((tool) => nodeReady.node.agent_tools.includes(tool));
  return async (remainingMs) => {
    const inTime = AbortSignal.timeout(Math.ceil(remainingMs()));
    const call = (each: AgentCall) => callTool({ commands, record, allowed }, each, remainingMs());
    const work = await model
      .run(briefOf(nodeReady), { tools: { allowed, call }, account }, AbortSignal.any([signal, inTime]))
      .catch((error: unknown) => stopped(error, [signal, inTime]));
    return { ...work, model: model.name };
  };
};

/** One that was told to stop may say so by any error. */
const stopped = (error: unknown, signals: readonly AbortSignal[]): Omit<AgentAnswer, 'model'> => {
  if (!signals.some(({ aborted }) => aborted)) throw error;
  return { outcome: 'worked', summary: 'it was stopped' };
};

const briefOf = ({ intent, node, brief }: NodeReady): AgentBrief => ({
  intent,
  goal: node.goal,
  recipe: recipeText(node.recipe),
  postcondition: node.postcondition === null ? null : JSON.stringify(node.postcondition),
  brief,
});

const recipeText = (recipe: Recipe): string => {
  if ('command' in recipe) return recipe.command;
  return 'script' in recipe
    ? `# ${recipe.language}\n${recipe.script}`
    : `${recipe.primitive} ${JSON.stringify(recipe.with)}`;
};

interface Tools {
  readonly commands: RecordedCommands;
  readonly record: RecordCall;
  readonly allowed: readonly AgentTool[];
}

const NOT_RUN = { exitCode: null, stdout: '', stderr: '' };
const NO_PROCESS = { exit_code: null, signal: null, duration_ms: 0, stdout: null, stderr: null };

const callTool = async (
  { commands, record, allowed }: Tools,
  call: AgentCall,
  timeoutMs: number,
): Promise<AgentToolResult> => {
  const tool = 'agent';
  const rung = 'agent';
  const text = call.input.command;
  if (!allowed.includes(call.tool)) {
    const detail = 'the task does not allow this tool';
    await record({
      ...NO_PROCESS,
      tool,
      rung,
      command: text.slice(0, 4096),
      outcome: 'denied',
      rule: 'agent_tools',
      detail,
    });
    return { ...NOT_RUN, outcome: 'denied', detail };
  }
  const called = await commands.run({ tool, rung, program: { kind: 'shell', text }, timeoutMs });
  if (called.outcome === 'denied') return { ...NOT_RUN, outcome: 'denied', detail: `${called.rule}: ${called.detail}` };
  const { result } = called;
  return {
    outcome: OUTCOMES[called.outcome],
    exitCode: result.exitCode,
    stdout: result.stdout.head + (result.stdout.truncated ? ' … ' : '') + result.stdout.tail,
    stderr: result.stderr.head + (result.stderr.truncated ? ' … ' : '') + result.stderr.tail,
    detail: result.error?.detail ?? '',
  };
};

const OUTCOMES = {
  zero: 'ok',
  nonzero: 'failed',
  timed_out: 'timed_out',
  killed: 'killed',
  not_started: 'not_started',
  cancelled: 'cancelled',
} as const;
