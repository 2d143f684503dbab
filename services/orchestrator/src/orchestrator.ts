import type { Clock, Ids } from '@fixpoint/contracts/clock';
import { type ProtocolCatalog, protocolCatalog } from '@fixpoint/documents/protocol-catalog';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { SnapshotQueue, type Snapshots } from '@fixpoint/event-store/snapshots';
import type { Bus, Reader } from '@fixpoint/messaging/bus';
import type { Publisher } from '@fixpoint/messaging/publisher';
import { decideReader } from './decide-reader.ts';
import type { Lineage } from './domain/lineage/state.ts';
import { HEALER } from './healing/give-up.ts';
import { heal } from './healing/heal.ts';
import { ring, TIMERS } from './healing/ring.ts';
import { type Lineages, lineageStates, lineagesOf } from './lineages.ts';
import type { ModelNames } from './model-names.ts';
import type { ProviderCounts } from './providers/provider-row.ts';
import { Providers } from './providers/providers.ts';
import { Admissions, NO_WINDOW, type Window } from './queue/admissions.ts';
import { DISPATCH, dispatch } from './queue/dispatch.ts';
import type { Queue, Standing } from './queue/queue.ts';
import { runResults } from './run-results.ts';
import { SNAPSHOTS, saveSnapshots } from './snapshots/save-snapshots.ts';
import type { Waits } from './waits/waits.ts';
import type { CancelDeps } from './writing/cancel.ts';
import type { DeadLetterDeps } from './writing/dead-letters.ts';
import type { SubmitDeps } from './writing/submit.ts';

export interface OrchestratorDeps {
  readonly store: EventStore;
  readonly bus: Pick<Bus, 'healthy'>;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly waits: Waits;
  readonly queue: Queue;
  /** How many runs may be in flight; left out: any number. */
  readonly window?: Window;
  /** Left out: only the playbook. */
  readonly models?: ModelNames;
  /** Null: no lineage has one, all are folded from their start. */
  readonly snapshots: Snapshots<Lineage> | null;
  /** Lineages whose folded state this process keeps. Default: 20,000. */
  readonly keptLineages?: number;
  /** Draws from 0 to below 1: what was paused in one moment is not asked in one moment. */
  readonly jitter: () => number;
  readonly deadLetter: Reader['deadLetter'];
  /** Told how the queue stands, about once a second. */
  readonly measure?: (standing: Standing) => void;
  /** The same of paused providers. */
  readonly measureProviders?: (counts: ProviderCounts) => void;
  /** For people: what was refused, or will be tried again. */
  readonly report: (what: string, about: Readonly<Record<string, unknown>>) => void;
}

const UNMEASURED = { measure: () => undefined, measureProviders: () => undefined } as const;

/** Everything the orchestrator does, as plain functions: the same in production and in a simulation. */
export interface Orchestrator {
  readonly reader: Reader;
  /** Background work by name; each step is one round. */
  readonly loops: Readonly<Record<string, (signal: AbortSignal) => Promise<void>>>;
  readonly lineages: Lineages;
  readonly submissions: SubmitDeps;
  /** Runs that wait for their turn, as far as this process knows. */
  readonly queued: () => number;
  readonly deadLetters: DeadLetterDeps;
  readonly cancels: CancelDeps;
  readonly providers: Providers;
}

export const orchestratorOf = (deps: OrchestratorDeps): Orchestrator => {
  const { store, publisher, clock, ids, waits, report } = deps;
  const catalog: ProtocolCatalog = protocolCatalog((stream) => store.readStream(stream));
  const states = new SnapshotQueue(lineageStates(deps.keptLineages));
  const { snapshots } = deps;
  const admissions = new Admissions(deps.window ?? NO_WINDOW);
  const providers = new Providers({
    ...{ store, snapshots, clock, ids, jitter: deps.jitter },
    rows: () => deps.queue.providers(),
    report: (error, name) => report('not decided', { err: error, provider: name }),
  });
  const lineages = lineagesOf({
    ...{ store, catalog, clock, states, admissions, snapshots: snapshots ?? undefined },
    ...(deps.keptLineages !== undefined && { kept: deps.keptLineages }),
    ...(deps.models && { models: deps.models }),
    stored: (events) => providers.note(events),
  });
  const results = runResults(store);
  const again = (error: unknown, { root, task }: { readonly root: string; readonly task: string }): void =>
    report('will be tried again', { err: error, root, task });
  return {
    reader: decideReader({
      ...{ store, lineages, results, publisher },
      report: (what, { event }) => report(what, { event: event.id, type: event.type, root: event.root }),
      deadLetter: deps.deadLetter,
    }),
    loops: {
      orchestrator__waits: (signal) => waits.keep(signal),
      [HEALER]: heal({ ...deps, lineages, results, report: again }),
      [DISPATCH]: dispatch({
        ...UNMEASURED,
        ...deps,
        lineages,
        admissions,
        providers,
        report: again,
      }),
      [SNAPSHOTS]: saveSnapshots({ states, store, snapshots, clock }),
      [TIMERS]: ring({ waits, lineages, publisher, clock, report: again }),
    },
    lineages,
    submissions: { store, lineages, catalog, publisher, clock, ids },
    queued: () => admissions.queued,
    deadLetters: { store, lineages, publisher, clock, ids },
    cancels: { store, lineages, publisher, clock, ids },
    providers,
  };
};
