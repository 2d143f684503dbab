/** Tools by the names that a task allows (`recovery.agent_tools`). */
export const AGENT_TOOL_NAMES = ['read_file', 'write_file', 'list_files', 'search', 'run_command'] as const;
