import type { AgentModel, AgentTools } from './agent-model.ts';

/** An agent that runs the commands of its script, whatever it is told; it stops at the first that is refused. */
export const scriptedAgent = (script: readonly string[], spent = { money_micros: 7, tokens: 11 }): AgentModel => ({
  name: 'scripted',
  run: async (_brief, { tools, account }, signal) => {
    account.charge(spent);
    if (!tools.allowed.includes('run_command')) return { outcome: 'declined', summary: 'no tool is allowed' };
    const done = await worked(script, tools, signal);
    return { outcome: 'worked', summary: done.join('\n') || 'nothing' };
  },
});

const worked = async (script: readonly string[], tools: AgentTools, signal: AbortSignal): Promise<string[]> => {
  const done: string[] = [];
  for (const command of script) {
    if (signal.aborted || done.at(-1)?.endsWith(': denied')) break;
    done.push(`${command}: ${(await tools.call({ tool: 'run_command', input: { command } })).outcome}`);
  }
  return done;
};
