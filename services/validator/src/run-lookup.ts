import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import { readEvent } from '@fixpoint/contracts/events/parse-event';
import { actionStream } from '@fixpoint/contracts/streams';
import type { EventStore } from '@fixpoint/event-store/event-store';

export type NodeReady = EventNamed<'node_ready'>['data'];
export type Action = EventNamed<'node_verified_action'>['data'];

type Streams = Pick<EventStore, 'readStream'>;

/** How a run ended, or null while it has not. */
export const actionOf = async (store: Streams, task: string, run: number): Promise<Action | null> => {
  const events = await store.readStream(actionStream(task, run));
  const ended = events.find(({ type }) => type === 'node_verified_action');
  return ended === undefined ? null : readEvent(ended, 'node_verified_action');
};

/** Starts of what the last recipe or repair of a run printed; empty when it printed nothing. */
export const printedBy = async (
  store: Streams,
  task: string,
  run: number,
): Promise<{ stdout: string; stderr: string }> => {
  const events = await store.readStream(actionStream(task, run));
  const calls = events.filter(({ type }) => type === 'tool_called').map((event) => readEvent(event, 'tool_called'));
  const last = calls.findLast(({ tool }) => tool === 'recipe' || tool === 'self_repair');
  return { stdout: last?.stdout?.head ?? '', stderr: last?.stderr?.head ?? '' };
};
