import type { CommandRule } from '@fixpoint/contracts/documents/protocol';
import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import type { CapturedOutput, Rung } from '@fixpoint/contracts/events/executor-events';
import type { Command, CommandResult, Output, Program, Runner } from '@fixpoint/execution/runner';
import { evaluateCommandRules } from '@fixpoint/validation/command-rules';
import type { CommandOutcome } from '../domain/ladder.ts';
import { boundedText } from './bounded-text.ts';

type ToolCalled = EventNamed<'tool_called'>['data'];

/** A call without its place in the run, which whoever records it knows. */
export type ToolCall = Omit<ToolCalled, 'root' | 'task' | 'address' | 'run' | 'seq'>;
export type RecordCall = (call: ToolCall) => Promise<void>;

export interface RecordedCommands {
  /** Asks the command rules, runs, records. Nothing runs that was not asked about, and nothing that is not recorded. */
  run(call: {
    readonly tool: ToolCalled['tool'];
    readonly rung: Rung;
    readonly program: Program;
    readonly timeoutMs: number;
    /** Playbook rule that proposed this command. */
    readonly rule?: string;
  }): Promise<RecordedResult>;
}

export type RecordedResult =
  | { readonly outcome: 'denied'; readonly rule: string; readonly detail: string; readonly result: null }
  | { readonly outcome: Exclude<CommandOutcome, 'denied'>; readonly result: CommandResult };

export interface RecordedCommandsDeps {
  readonly runner: Runner;
  readonly rules: readonly CommandRule[];
  readonly record: RecordCall;
  /** Folder, variables, confinement and abort signal of the run. */
  readonly setting: Pick<Command, 'cwd' | 'env' | 'signal'> & Required<Pick<Command, 'confinement'>>;
  /** What the run may do on its own account. Its commands get it, its checks do not, and no output shows it. */
  readonly grant: RunGrant | null;
}

export interface RunGrant {
  readonly token: string;
  /** The write API; null when nobody said how commands reach it. */
  readonly apiUrl: string | null;
}

/** Processes of a command can't be killed (uninterruptible I/O): nothing else may start beside them. */
export class SurvivingProcesses extends Error {
  override readonly name = 'SurvivingProcesses';

  constructor(pids: readonly number[]) {
    super(`processes ${pids.join(', ')} of a command could not be killed`);
  }
}

/** JSON bytes that one text of a call may take: an event holds 64 KiB, and a control character takes six. */
const COMMAND_BYTES = 12_288;
const OUTPUT_END_BYTES = 8_192;

export const recordedCommands = (deps: RecordedCommandsDeps): RecordedCommands => ({
  async run({ tool, rung, program, timeoutMs, rule = null }) {
    const command = boundedText(programText(program), COMMAND_BYTES);
    const verdict = evaluateCommandRules(deps.rules, { ...ruledForm(program), rung });
    if (verdict.denied) {
      await deps.record({
        ...NOT_RUN,
        tool,
        rung,
        command,
        outcome: 'denied',
        rule: verdict.rule,
        detail: verdict.message,
      });
      return { outcome: 'denied', rule: verdict.rule, detail: verdict.message, result: null };
    }
    const result = await deps.runner.run({ ...settingFor(tool, deps), program, timeoutMs });
    if (result.survivors.length > 0) throw new SurvivingProcesses(result.survivors);
    const outcome = outcomeOf(result);
    await deps.record({ tool, rung, command, rule, outcome: CALL_OUTCOMES[outcome], ...recordOf(result) });
    return { outcome, result };
  },
});

const settingFor = (tool: ToolCalled['tool'], { setting, grant }: RecordedCommandsDeps) => {
  if (grant === null) return setting;
  if (tool === 'postcondition') return { ...setting, masked: grant.token };
  return { ...setting, env: { ...setting.env, ...variablesOf(grant) }, masked: grant.token };
};

const variablesOf = ({ token, apiUrl }: RunGrant): Record<string, string> => ({
  FIXPOINT_RUN_TOKEN: token,
  ...(apiUrl !== null && { FIXPOINT_URL: apiUrl }),
});

const NOT_RUN = { exit_code: null, signal: null, duration_ms: 0, stdout: null, stderr: null };

const CALL_OUTCOMES = {
  zero: 'ok',
  nonzero: 'failed',
  timed_out: 'timed_out',
  killed: 'killed',
  not_started: 'not_started',
  cancelled: 'cancelled',
} as const satisfies Record<Exclude<CommandOutcome, 'denied'>, ToolCalled['outcome']>;

const outcomeOf = (result: CommandResult): Exclude<CommandOutcome, 'denied'> => {
  switch (result.status) {
    case 'exited':
      return result.exitCode === 0 ? 'zero' : 'nonzero';
    case 'signaled':
      return 'killed';
    default:
      return result.status;
  }
};

const recordOf = (result: CommandResult) => ({
  exit_code: result.exitCode,
  signal: result.signal,
  duration_ms: result.durationMs,
  detail: result.error === null ? '' : boundedText(`${result.error.code}: ${result.error.detail}`, 1024),
  stdout: capturedOutput(result.stdout),
  stderr: capturedOutput(result.stderr),
});

const capturedOutput = (output: Output): CapturedOutput => ({
  hash: output.hash,
  bytes: output.bytes,
  head: boundedText(output.head, OUTPUT_END_BYTES),
  tail: boundedText(output.tail, OUTPUT_END_BYTES),
  truncated: output.truncated,
});

const ruledForm = (program: Program) => {
  switch (program.kind) {
    case 'argv':
      return { argv: program.argv };
    case 'shell':
      return { text: program.text };
    case 'script':
      return { script: program.text, language: program.language };
    default:
      return program satisfies never;
  }
};

/** How a program is shown to people. */
const programText = (program: Program): string => {
  switch (program.kind) {
    case 'argv':
      return program.argv.join(' ');
    case 'shell':
      return program.text;
    case 'script':
      return `# ${program.language}\n${program.text}`;
    default:
      return program satisfies never;
  }
};
