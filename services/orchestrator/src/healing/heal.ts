import type { Clock, Ids } from '@fixpoint/contracts/clock';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { NodeReady } from '@fixpoint/contracts/events/lineage-events';
import { readEvent, UnreadableEvent } from '@fixpoint/contracts/events/parse-event';
import { lineageStream } from '@fixpoint/contracts/streams';
import type { EventStore } from '@fixpoint/event-store/event-store';
import type { Bus } from '@fixpoint/messaging/bus';
import { type Publisher, publicationsOf } from '@fixpoint/messaging/publisher';
import type { Lineages } from '../lineages.ts';
import type { LineageAnswer } from '../reactions/react.ts';
import type { RunResults } from '../run-results.ts';
import type { Waiting } from '../waits/wait-rows.ts';
import type { Waits } from '../waits/waits.ts';
import { nextSweep } from '../waits/waits-after.ts';
import { causeOf, giveUp, HEALER } from './give-up.ts';
import { hopTimeoutMs } from './hop-timeout.ts';
import { healStep, laterLook } from './next-step.ts';
import { letterAbout } from './unreadable.ts';

export interface HealerDeps {
  readonly store: EventStore;
  readonly bus: Pick<Bus, 'healthy'>;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly waits: Waits;
  readonly lineages: Lineages;
  readonly results: RunResults;
  /** One row's trouble is told and stops no other row; it is looked at again. */
  readonly report: (error: unknown, row: Waiting) => void;
}

const AT_ONCE = 100;
const PAUSE_MS = 1_000;

/** One round of the healer, for a loop: what nobody answered is offered again, and given up when its time is over. */
export const heal =
  (deps: HealerDeps) =>
  async (signal: AbortSignal): Promise<void> => {
    // Without a bus nobody can answer: nothing is offered, and nobody's silence counts.
    const rows = deps.bus.healthy() ? await deps.waits.claimWaiting(AT_ONCE) : [];
    for (const row of rows) {
      if (signal.aborted) return;
      await healRow(deps, row).catch((error: unknown) => deps.report(error, row));
    }
    if (rows.length < AT_ONCE) await deps.clock.sleep(PAUSE_MS, signal);
  };

const healRow = async (deps: HealerDeps, row: Waiting): Promise<void> => {
  if (row.kind === 'epic') return sweep(deps, row);
  const [ready, event] = await eventsOf(deps, row);
  try {
    await healReadable(deps, row, { ready, event });
  } catch (error) {
    if (!(error instanceof UnreadableEvent)) throw error;
    await leaveToHuman(deps, row, { ready, event, error });
  }
};

/** A unit that waits for its children: what they came to may have been missed. */
const sweep = async (deps: HealerDeps, row: Waiting): Promise<void> => {
  const cause = { ...causeOf(row), id: `sweep:${row.task}:${row.next_at ?? row.since}` };
  await decide(deps, row, { command: { type: 'sweep_unit', task: row.task }, nodeReady: null, cause });
  const { reoffers, last_offer } = row;
  await deps.waits.reschedule(row, { reoffers, last_offer, next_at: nextSweep(deps.clock.now().toISOString()) });
};

const healReadable = async (deps: HealerDeps, row: Waiting, { ready, event }: Unanswered): Promise<void> => {
  const data = ready === null ? null : readEvent(ready, 'node_ready');
  const mode = await deps.lineages.modeOf(row.root, ready);
  const step = healStep(row, hopTimeoutMs(row, mode, data), deps.clock.now().getTime());
  if (step.step === 'give_up') return end(deps, row, { ready, data });
  if (step.step === 'offer') offer(deps, { event, ready });
  await deps.waits.reschedule(row, step.next);
};

type Recorded = RecordedEvent | null;

interface Unanswered {
  readonly ready: Recorded;
  readonly event: Recorded;
}

/** The run's `node_ready` and the event that nobody answered. */
const eventsOf = async ({ store }: HealerDeps, row: Waiting): Promise<readonly [Recorded, Recorded]> => {
  const lineage = lineageStream(row.root);
  const ready = row.ready_version === null ? null : await eventAt(store, lineage, row.ready_version);
  if (row.stream === null || row.version === null) return [ready, null];
  if (row.stream === lineage && row.version === row.ready_version) return [ready, ready];
  return [ready, await eventAt(store, row.stream, row.version)];
};

const eventAt = async (store: EventStore, stream: string, version: number): Promise<Recorded> =>
  (await store.readStream(stream, version, version))[0] ?? null;

const offer = ({ publisher, ids }: HealerDeps, { event, ready }: Unanswered): void => {
  if (event !== null) publisher.publish(publicationsOf([event], ready, ids.uuid()));
};

interface Overdue {
  readonly ready: Recorded;
  readonly data: NodeReady | null;
}

const end = async (deps: HealerDeps, row: Waiting, { ready, data }: Overdue): Promise<void> => {
  const command = await giveUp(deps, row, data);
  const isEnded = command !== null && (await decide(deps, row, { command, nodeReady: ready }));
  // The rows are behind the log, or there is an answer to wait for after all.
  if (!isEnded) await lookLater(deps, row);
};

const lookLater = ({ waits, clock }: HealerDeps, row: Waiting): Promise<void> =>
  waits.reschedule(row, laterLook(row, clock.now().getTime()));

type Given = {
  readonly command: LineageAnswer;
  readonly nodeReady: Recorded;
  readonly cause?: ReturnType<typeof causeOf>;
};

/** @returns whether anything was decided. */
const decide = async (deps: HealerDeps, row: Waiting, given: Given): Promise<boolean> => {
  const decision = await deps.lineages.commandFor({ root: row.root, cause: causeOf(row), ...given });
  const [outcome] = await deps.lineages.decide(HEALER, [decision]);
  if (outcome?.outcome === 'failed') throw outcome.error;
  if (outcome?.outcome !== 'decided') return false;
  deps.publisher.publish(publicationsOf(outcome.events, null));
  return outcome.events.length > 0;
};

type Unreadable = Unanswered & { readonly error: UnreadableEvent };

/** Nobody here knows how long to wait; a process of another version may understand it, so it is still offered. */
const leaveToHuman = async (deps: HealerDeps, row: Waiting, { ready, event, error }: Unreadable): Promise<void> => {
  deps.report(error, row);
  offer(deps, { event, ready });
  await lookLater(deps, row);
  if (ready === null) return;
  const cause = causeOf(row);
  const told = { ...cause, id: `${cause.id}:unreadable` };
  await decide(deps, row, { command: letterAbout(ready, row, error), nodeReady: null, cause: told });
};
