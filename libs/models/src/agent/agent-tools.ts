import type { AGENT_TOOL_NAMES } from '@fixpoint/contracts/documents/agent-tools';
import { z } from 'zod';

const path = z.string().max(4096).describe('relative to the folder, `/` between parts; `.` is the folder itself');

/** What each tool is told, by the names that a task allows (`recovery.agent_tools`). */
export const agentToolInputs = {
  read_file: z.object({ path, from_line: z.number().int().min(1).nullable().describe('null: from the first') }),
  write_file: z.object({ path, content: z.string().max(1_000_000).describe('all of the file') }),
  list_files: z.object({ path }),
  search: z.object({ text: z.string().min(1).max(1_000).describe('found as it stands, no pattern'), path }),
  run_command: z.object({ command: z.string().min(1).max(48_000) }),
} satisfies Record<(typeof AGENT_TOOL_NAMES)[number], z.ZodType>;

export type AgentTool = keyof typeof agentToolInputs;
export type AgentCallOf<Tool extends AgentTool> = {
  readonly tool: Tool;
  readonly input: z.infer<(typeof agentToolInputs)[Tool]>;
};
export type AgentCall = { readonly [Tool in AgentTool]: AgentCallOf<Tool> }[AgentTool];

/** All there are. */
export const AGENT_TOOLS = Object.keys(agentToolInputs) as AgentTool[];
