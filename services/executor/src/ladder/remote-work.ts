import type { CapturedOutput } from '@fixpoint/contracts/events/executor-events';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import type { CommandOutcome } from '../domain/ladder.ts';
import { boundedText } from './bounded-text.ts';
import type { NodeOutput } from './node-output.ts';
import type { ToolCall } from './recorded-commands.ts';

/** What somebody elsewhere says to have done, once it has landed here. */
export interface RemoteWork {
  readonly outcome: Extract<CommandOutcome, 'zero' | 'nonzero'>;
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly output: NodeOutput;
  readonly detail: string;
}

export interface RemoteCall {
  readonly command: string;
  readonly outcome: Extract<CommandOutcome, 'zero' | 'nonzero' | 'timed_out' | 'cancelled'>;
  /** Null: it was not waited for any longer. */
  readonly work: RemoteWork | null;
  readonly durationMs: number;
}

const OUTCOMES = { zero: 'ok', nonzero: 'failed', timed_out: 'timed_out', cancelled: 'cancelled' } as const;
const COMMAND_BYTES = 12_288;
const END_BYTES = 8_192;
const LONGEST_END = 4_096;

/** The same record that a command leaves. */
export const recordOfWork = async (
  { command, outcome, work, durationMs }: RemoteCall,
  artifacts: Pick<Artifacts, 'put'>,
): Promise<ToolCall> => ({
  ...{ tool: 'recipe', rung: 'recipe', command: boundedText(command, COMMAND_BYTES), outcome: OUTCOMES[outcome] },
  ...{ exit_code: work?.exitCode ?? null, signal: null, rule: null, duration_ms: durationMs },
  detail: boundedText(work?.detail ?? '', 1_024),
  stdout: work === null ? null : await capturedText(work.stdout, artifacts),
  stderr: work === null ? null : await capturedText(work.stderr, artifacts),
});

const capturedText = async (text: string, artifacts: Pick<Artifacts, 'put'>): Promise<CapturedOutput> => {
  const bytes = Buffer.from(text);
  const truncated = text.length > 2 * LONGEST_END;
  return {
    hash: bytes.length === 0 ? null : (await artifacts.put(bytes)).hash,
    bytes: bytes.length,
    head: boundedText(truncated ? text.slice(0, LONGEST_END) : text, END_BYTES),
    tail: truncated ? boundedText(text.slice(-LONGEST_END), END_BYTES) : '',
    truncated,
  };
};
