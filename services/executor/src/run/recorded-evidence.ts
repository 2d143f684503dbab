import { readEvent } from '@fixpoint/contracts/events/parse-event';
import { actionStream } from '@fixpoint/contracts/streams';
import type { EventStore } from '@fixpoint/event-store/event-store';
import type { RecipeEvidence } from '../ladder/trace.ts';
import type { NodeReady } from './assignment.ts';

/** What the run that a check run judges put out, as it is on record; null where none is judged or it left nothing. */
export const recordedEvidence = async (
  store: Pick<EventStore, 'readStream'>,
  { task, run_kind, judges }: Pick<NodeReady, 'task' | 'run_kind' | 'judges'>,
): Promise<RecipeEvidence | null> => {
  if (run_kind !== 'check' || judges === null) return null;
  const events = await store.readStream(actionStream(task, judges));
  const ended = events.find(({ type }) => type === 'node_verified_action');
  if (ended === undefined) return null;
  const { output, output_artifact: artifact, exit_code: exitCode } = readEvent(ended, 'node_verified_action');
  const calls = events.filter(({ type }) => type === 'tool_called').map((event) => readEvent(event, 'tool_called'));
  const last = calls.findLast(({ tool }) => tool === 'recipe' || tool === 'self_repair');
  const printed = { stdout: last?.stdout?.head ?? '', stderr: last?.stderr?.head ?? '' };
  return { output: { output, artifact }, exitCode, ...printed };
};
