import type { CommandRule } from '@fixpoint/contracts/documents/protocol';
import type { CapturedOutput } from '@fixpoint/contracts/events/executor-events';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import type { FileAnswer, WorkspaceFiles } from '@fixpoint/execution/workspace-files';
import type { AgentToolResult } from '@fixpoint/models/agent/agent-model';
import type { AgentCall, AgentCallOf, AgentTool } from '@fixpoint/models/agent/agent-tools';
import { evaluateCommandRules } from '@fixpoint/validation/command-rules';
import { boundedText } from '../ladder/bounded-text.ts';
import type { RecordCall, RecordedCommands } from '../ladder/recorded-commands.ts';

export interface AgentToolsDeps {
  /** By the task. */
  readonly allowed: readonly AgentTool[];
  readonly commands: RecordedCommands;
  readonly files: WorkspaceFiles;
  /** Asked about tools for files as about a command of the tool's name with the path as its argument. */
  readonly rules: readonly CommandRule[];
  /** Keeps what was written, for whoever reads the log. */
  readonly artifacts: Pick<Artifacts, 'put'>;
  readonly record: RecordCall;
  readonly clock: { monotonicMs(): number };
  readonly remainingMs: () => number;
  readonly signal: AbortSignal;
}

type CallTool = (call: AgentCall) => Promise<AgentToolResult>;

/** The tools of one agent. Each call is allowed by the task and by the command rules, or denied; and recorded either way. */
export const agentTools = (deps: AgentToolsDeps): CallTool => {
  const call: CallTool = (each) => (each.tool === 'run_command' ? runCommand(deps, each) : callFiles(deps, each));
  return (each) =>
    deps.allowed.includes(each.tool)
      ? call(each)
      : denied(deps, each, { rule: 'agent_tools', detail: 'the task does not allow this tool' });
};

const NOT_RUN = { exitCode: null, stdout: '', stderr: '' };
const AGENT = { tool: 'agent', rung: 'agent' } as const;
const NO_PROCESS = { exit_code: null, signal: null, stderr: null };

/** As people read it; the text of a file is not a part of it. */
const shown = ({ tool, input }: AgentCall): string => {
  if (tool === 'run_command') return boundedText(input.command, 4_096);
  const sought = tool === 'search' ? ` ${JSON.stringify(input.text)}` : '';
  return boundedText(`${tool} ${input.path}${sought}`, 4_096);
};

interface Denial {
  readonly rule: string;
  readonly detail: string;
}

const denied = async (
  { record }: AgentToolsDeps,
  call: AgentCall,
  { rule, detail }: Denial,
): Promise<AgentToolResult> => {
  const recorded = { ...AGENT, ...NO_PROCESS, command: shown(call), outcome: 'denied', stdout: null } as const;
  await record({ ...recorded, rule, duration_ms: 0, detail: boundedText(detail, 1_024) });
  return { ...NOT_RUN, outcome: 'denied', detail: `${rule}: ${detail}` };
};

const runCommand = async (
  { commands, remainingMs }: AgentToolsDeps,
  { input }: AgentCallOf<'run_command'>,
): Promise<AgentToolResult> => {
  const program = { kind: 'shell', text: input.command } as const;
  const called = await commands.run({ ...AGENT, program, timeoutMs: remainingMs() });
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

type FileCall = Exclude<AgentCall, AgentCallOf<'run_command'>>;

const callFiles = async (deps: AgentToolsDeps, call: FileCall): Promise<AgentToolResult> => {
  const ruling = evaluateCommandRules(deps.rules, { argv: [call.tool, call.input.path], rung: 'agent' });
  if (ruling.denied) return denied(deps, call, { rule: ruling.rule, detail: ruling.message });
  const startedAt = deps.clock.monotonicMs();
  const answer = await answerOf(deps, call);
  if (answer.outcome === 'denied') return denied(deps, call, { rule: 'workspace', detail: answer.problem });
  const detail = answer.outcome === 'ok' ? '' : answer.problem;
  await deps.record({
    ...{ ...AGENT, ...NO_PROCESS, rule: null, command: shown(call) },
    ...{ outcome: answer.outcome, detail: boundedText(detail, 1_024) },
    duration_ms: deps.clock.monotonicMs() - startedAt,
    stdout: answer.outcome === 'ok' && call.tool === 'write_file' ? await written(deps, call) : null,
  });
  return { ...NOT_RUN, outcome: answer.outcome, stdout: answer.outcome === 'ok' ? answer.text : '', detail };
};

const answerOf = ({ files, signal }: AgentToolsDeps, call: FileCall): Promise<FileAnswer> => {
  switch (call.tool) {
    case 'read_file':
      return files.read(call.input.path, call.input.from_line ?? 1);
    case 'write_file':
      return files.write(call.input.path, call.input.content);
    case 'list_files':
      return files.list(call.input.path);
    case 'search':
      return files.search(call.input.text, call.input.path, signal);
    default:
      return call satisfies never;
  }
};

/** What a file was made to hold: its start in the event, the whole of it as an artifact. */
const written = async (
  { artifacts }: AgentToolsDeps,
  { input }: AgentCallOf<'write_file'>,
): Promise<CapturedOutput> => {
  const bytes = Buffer.from(input.content);
  const head = boundedText(input.content, 8_192);
  const { hash } = await artifacts.put(bytes);
  return { hash, bytes: bytes.length, head, tail: '', truncated: head !== input.content };
};
