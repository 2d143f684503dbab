import type { AgentModel, AgentTools } from './agent-model.ts';
import type { AgentCall } from './agent-tools.ts';

/** An agent that makes the calls of its script (a text is a command), whatever it is told; it stops at the first that is refused. */
export const scriptedAgent = (
  script: readonly (string | AgentCall)[],
  spent = { money_micros: 7, tokens: 11 },
): AgentModel => ({
  name: 'scripted',
  run: async (_brief, { tools, account }, signal) => {
    account.charge(spent);
    if (tools.allowed.length === 0) return { outcome: 'declined', summary: 'no tool is allowed' };
    const done = await worked(script.map(callOf), tools, signal);
    return { outcome: 'worked', summary: done.join('\n') || 'nothing' };
  },
});

const callOf = (step: string | AgentCall): AgentCall =>
  typeof step === 'string' ? { tool: 'run_command', input: { command: step } } : step;

const worked = async (script: readonly AgentCall[], tools: AgentTools, signal: AbortSignal): Promise<string[]> => {
  const done: string[] = [];
  for (const call of script) {
    if (signal.aborted || done.at(-1)?.endsWith(': denied')) break;
    done.push(`${call.tool}: ${(await tools.call(call)).outcome}`);
  }
  return done;
};
