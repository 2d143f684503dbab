import type { AgentWork } from '@fixpoint/models/agent/agent-model';
import { boundedText } from './bounded-text.ts';
import type { RecordCall } from './recorded-commands.ts';

export interface AgentAnswer extends AgentWork {
  readonly model: string;
}

/** @param remainingMs what is left of the run's time, asked again for each tool. */
export type AskAgent = (remainingMs: () => number) => Promise<AgentAnswer>;

const NO_PROCESS = { exit_code: null, signal: null, rule: null, stdout: null, stderr: null };

/** Of what an agent says it did, people are told; nothing is decided on it. */
export const recordAgent = (record: RecordCall, answer: AgentAnswer, durationMs: number): Promise<void> =>
  record({
    ...NO_PROCESS,
    tool: 'agent_model',
    rung: 'agent',
    command: answer.model,
    outcome: answer.outcome === 'declined' ? 'declined' : 'ok',
    duration_ms: durationMs,
    detail: boundedText(answer.summary, 2048),
  });
