import { createHash } from 'node:crypto';
import type { Clock, Ids } from '@fixpoint/contracts/clock';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import type { Append, EventStore } from '@fixpoint/event-store/event-store';
import type { Runner } from '@fixpoint/execution/runner';
import type { Workspaces } from '@fixpoint/execution/workspaces';
import type { TokenCheck } from '@fixpoint/executor/token-check';
import type { Bus, Reader } from '@fixpoint/messaging/bus';
import type { Leases } from '@fixpoint/messaging/lease';
import { type Publisher, publisher } from '@fixpoint/messaging/publisher';
import type { AgentModel } from '@fixpoint/models/agent/agent-model';
import type { CouncilModel } from '@fixpoint/models/council-model';
import type { RepairModel } from '@fixpoint/models/models';
import type { Window } from '@fixpoint/orchestrator/queue/admissions';
import type { ReadDecisions } from '@fixpoint/validator/signed-decisions';
import type { FileTrees } from './file-trees.ts';
import { type OnAnswered, type SimulatedProcess, simulatedProcess } from './simulated-process.ts';
import type { Outside } from './small-shell.ts';

/** Name of the agent of these worlds. */
export const AGENT = 'smith';

/** What stands between a process and its ports: here a world puts its faults. Absent: nothing. */
export interface Disturbances {
  /** Before an append reaches the store. False: it never does, and whoever made it never hears of it. */
  readonly storing?: (process: SimulatedProcess, appends: readonly Append[]) => boolean;
  /** When it is stored, before whoever made it knows; what it throws is all that is heard of it. */
  readonly stored?: (process: SimulatedProcess, appends: readonly Append[]) => void;
  /** By how much the clock of a process is wrong, ms. */
  readonly skewMs?: (process: string) => number;
  readonly reader?: (inner: Reader) => Reader;
  readonly runner?: (inner: Runner, process: SimulatedProcess) => Runner;
  readonly workspaces?: (inner: Workspaces, process: SimulatedProcess) => Workspaces;
  readonly repairModel?: (inner: RepairModel, process: SimulatedProcess) => RepairModel;
  readonly councilModel?: (inner: CouncilModel, process: SimulatedProcess) => CouncilModel;
  /** Acts as the agent that tasks and protocols call {@link AGENT}. Absent: there is none. */
  readonly agentModel?: (process: SimulatedProcess) => AgentModel;
  readonly tokenCheck?: (inner: TokenCheck) => TokenCheck;
  readonly readDecisions?: (inner: ReadDecisions) => ReadDecisions;
  /** Takes the work that a command hands in with the token of its run; false: it was not taken. Absent: nobody takes any. */
  readonly handIn?: (token: string, name: string) => Promise<boolean>;
  /** How many runs may be in flight. Absent: any number. */
  readonly window?: Window;
  /** Lineages that an orchestrator keeps in memory. */
  readonly keptLineages?: number;
}

/** What all processes of one world share. */
export interface Ground {
  readonly store: EventStore;
  readonly bus: Bus;
  readonly artifacts: Artifacts;
  readonly clock: Clock;
  readonly leases: { readonly executor: Leases; readonly validator: Leases; readonly decomposer: Leases };
  readonly trees: FileTrees;
  readonly outside: Outside;
  /** `by_run`: a repeated question mints the same token, so that streams can be compared; else every token is fresh. */
  readonly tokenIds: 'by_run' | 'by_sequence';
  /** Told what a service reports to people. */
  readonly report: (what: string) => void;
  readonly onAnswered: OnAnswered;
  /** Kills a process, which may be the one that asks, and starts another one of its service. */
  readonly crash: (process: SimulatedProcess) => void;
  /** Told of every append of a process before the process is. */
  readonly onStored: (process: SimulatedProcess) => void;
  readonly disturb: Disturbances;
}

/** What one service of one process is built on: all of it dies with the process. */
export interface Foundations {
  readonly process: SimulatedProcess;
  readonly store: EventStore;
  readonly publisher: Publisher;
  readonly artifacts: Artifacts;
  readonly clock: Clock;
  readonly ids: Ids;
}

const uuidOf = (name: string): string => {
  const hex = createHash('sha256').update(name).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

/** The same ids in the same order in every run of a world. */
const sequentialIds = (name: string): Ids => {
  let count = 0;
  return {
    uuid: () => {
      count += 1;
      return uuidOf(`${name} ${count}`);
    },
  };
};

/** One id, however often it is asked for. */
export const fixedId = (name: string): Ids => ({ uuid: () => uuidOf(name) });

/** Rounds of background work end with a pause; here whoever calls the next round decides when that is. */
export const withoutPauses = (clock: Clock, skewMs: () => number = () => 0): Clock => ({
  now: () => new Date(clock.now().getTime() + skewMs()),
  monotonicMs: () => clock.monotonicMs(),
  sleep: () => Promise.resolve(),
});

type Stores = Pick<Ground, 'store' | 'disturb' | 'onStored'>;

/** Told of every append before and after it; in between lies all that can happen to one. */
const watchedStore = ({ store, disturb, onStored }: Stores, process: SimulatedProcess): EventStore => {
  const watched = async <Outcome>(appends: readonly Append[], append: () => Promise<Outcome>): Promise<Outcome> => {
    if (disturb.storing?.(process, appends) === false) return new Promise(() => undefined);
    const outcome = await append();
    onStored(process);
    disturb.stored?.(process, appends);
    return outcome;
  };
  return {
    append: (append) => watched([append], () => store.append(append)),
    appendAll: (appends) => watched(appends, () => store.appendAll(appends)),
    readStream: (stream, fromVersion, toVersion) => store.readStream(stream, fromVersion, toVersion),
    readStreams: (streams, toVersion) => store.readStreams(streams, toVersion),
    find: (id) => store.find(id),
    readAll: (after, limit) => store.readAll(after, limit),
    watermark: () => store.watermark(),
    changed: (timeoutMs, signal) => store.changed(timeoutMs, signal),
  };
};

export const foundationsOf = (ground: Ground, name: string): Foundations => {
  const process = simulatedProcess(name, ground.clock, ground.onAnswered);
  return {
    process,
    store: process.mortal(watchedStore(ground, process)),
    publisher: process.mortal(publisher(ground.bus, (error) => ground.report(String(error)))),
    artifacts: process.mortal(ground.artifacts),
    clock: withoutPauses(ground.clock, () => ground.disturb.skewMs?.(name) ?? 0),
    ids: sequentialIds(name),
  };
};
