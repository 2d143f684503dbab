import { z } from 'zod';

/** What each tool is told, by the names that a task allows (`recovery.agent_tools`). */
export const agentToolInputs = {
  /** Text for /bin/sh, in the workspace. */
  run_command: z.object({ command: z.string().min(1).max(48_000) }),
};

export type AgentTool = keyof typeof agentToolInputs;
export type AgentCall = {
  readonly [Tool in AgentTool]: { readonly tool: Tool; readonly input: z.infer<(typeof agentToolInputs)[Tool]> };
}[AgentTool];

/** All there are. */
export const AGENT_TOOLS = Object.keys(agentToolInputs) as AgentTool[];
