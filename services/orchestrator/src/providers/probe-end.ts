import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { readEvent } from '@fixpoint/contracts/events/parse-event';
import { type AskingRun, providerFaultClassSchema } from '@fixpoint/contracts/events/provider-events';
import { isGitProvider } from '@fixpoint/contracts/provider-name';
import { actionStream, lineageStream } from '@fixpoint/contracts/streams';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { readStates } from '@fixpoint/event-store/read-states';
import type { Snapshots } from '@fixpoint/event-store/snapshots';
import { lineage } from '../domain/lineage/decide.ts';
import type { Lineage } from '../domain/lineage/state.ts';
import { providerOfFault } from '../domain/provider/needs.ts';
import type { EndProbe } from '../domain/provider/provider.ts';

export interface ProbeReading {
  readonly store: Pick<EventStore, 'readStream' | 'readStreams'>;
  readonly snapshots: Snapshots<Lineage> | null;
}

export interface Probing {
  readonly provider: string;
  readonly probe: AskingRun;
  /** ISO 8601. */
  readonly since: string;
}

/** `under_way`: nobody knows yet. Else what `end_probe` is told: the fault that it met, or null. */
export type ProbeEnd = 'under_way' | { readonly fault: EndProbe['fault'] };

/** A run that is granted is begun at once; who died in between does not come back for it. */
const BEGUN_WITHIN_MS = 30_000;

/** What the log says of a probe. The log alone: whoever decided on its run may be another process, or dead. */
export const probeEnd = async (reading: ProbeReading, probing: Probing, now: string): Promise<ProbeEnd> => {
  const { probe } = probing;
  const standing = await runStanding(reading, probe);
  if (standing === 'queued') {
    const isLate = Date.parse(now) - Date.parse(probing.since) > BEGUN_WITHIN_MS;
    return isLate ? nothing('its run was not begun') : 'under_way';
  }
  const action = await reading.store.readStream(actionStream(probe.task, probe.run));
  if (action.some((event) => isAnswer(event, probing.provider))) return { fault: null };
  return standing === 'in_flight' ? 'under_way' : endOf(action, probing.provider);
};

const nothing = (detail: string): ProbeEnd => ({ fault: { class: null, detail, retryAfterMs: 0 } });

const runStanding = async (
  { store, snapshots }: ProbeReading,
  { root, task: id, run }: AskingRun,
): Promise<'queued' | 'in_flight' | 'over'> => {
  const stream = lineageStream(root);
  const read = await readStates({ store, decider: lineage, snapshots: snapshots ?? undefined }, [stream]);
  const found = read.get(stream);
  if (found === undefined || 'unfoldable' in found || found.state.status === 'unknown') return 'over';
  const task = found.state.tasks[id];
  if (task?.status !== 'open') return 'over';
  if (task.queued?.run === run) return 'queued';
  return task.current?.run === run ? 'in_flight' : 'over';
};

const MODEL_TOOLS: readonly string[] = ['repair_model', 'agent_model'];

/** A long run need not end for others to go on: its repository was there when a command began, its model when it answered. */
const isAnswer = (event: RecordedEvent, provider: string): boolean => {
  if (event.type !== 'tool_called') return false;
  const { tool, outcome } = readEvent(event, 'tool_called');
  if (isGitProvider(provider)) return tool !== 'deliver' || outcome === 'ok';
  return MODEL_TOOLS.includes(tool) && (outcome === 'ok' || outcome === 'declined');
};

const endOf = (action: readonly RecordedEvent[], provider: string): ProbeEnd => {
  const end = action.find(({ type }) => type === 'node_verified_action');
  if (end === undefined) return nothing('its run ended before it asked');
  const { outcome, fault_class: name, detail, provider_fault: said } = readEvent(end, 'node_verified_action');
  const named = providerFaultClassSchema.safeParse(name);
  if (named.success && (said?.provider ?? providerOfFault(named.data, [provider])) === provider)
    return { fault: { class: named.data, detail, retryAfterMs: said?.retry_after_ms ?? 0 } };
  return outcome === 'faulted' || outcome === 'cancelled' ? nothing(`its run ended as ${outcome}`) : { fault: null };
};
