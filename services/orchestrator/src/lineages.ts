import type { Clock } from '@fixpoint/contracts/clock';
import type { ModeSpec } from '@fixpoint/contracts/documents/protocol';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { definitionOf, type EventNamed, type LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { readEvent } from '@fixpoint/contracts/events/parse-event';
import { lineageStream } from '@fixpoint/contracts/streams';
import type { ProtocolCatalog } from '@fixpoint/documents/protocol-catalog';
import type { Cause } from '@fixpoint/event-store/decision-plan';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { type DecisionOutcome, type DecisionShell, runDecisions } from '@fixpoint/event-store/run-decision';
import type { Snapshots } from '@fixpoint/event-store/snapshots';
import { type StateCache, stateCache } from '@fixpoint/event-store/state-cache';
import { conditionAsker } from '@fixpoint/validation/condition';
import { LRUCache } from 'lru-cache';
import type { LineageCommand } from './domain/lineage/commands.ts';
import { lineage } from './domain/lineage/decide.ts';
import type { Lineage } from './domain/lineage/state.ts';
import { type ModelNames, ONLY_THE_PLAYBOOK } from './model-names.ts';
import { Admissions, NO_WINDOW } from './queue/admissions.ts';
import { admitting } from './queue/admitting.ts';
import type { LineageAnswer } from './reactions/react.ts';

/** Lineages whose folded state and mode this process keeps. */
const KEPT = 20_000;

type Scoped = Pick<EventNamed<'task_submitted'>['data'], 'scope' | 'protocol'>;

/** What a lineage runs under, for ever. */
type Rules = Scoped & { readonly mode: ModeSpec };

export interface Answer {
  readonly root: string;
  readonly command: LineageAnswer;
  readonly cause: Omit<Cause, 'correlation_id'>;
  /** The run's `node_ready` where it is at hand: it names the protocol. */
  readonly nodeReady: RecordedEvent | null;
}

export type LineageDecision = { readonly root: string; readonly command: LineageCommand; readonly cause: Cause };

/** All lineages as one process decides on them: one cache of states and modes for every path into the decider. */
export interface Lineages {
  /**
   * Decides and stores, each on what the one before left.
   * @returns one outcome per decision, in order.
   * @throws the store's fault; repeat all with the same causes.
   */
  decide(handler: string, decisions: readonly LineageDecision[]): Promise<readonly DecisionOutcome[]>;
  /**
   * The answer as a complete command, at the time of this call.
   * @throws {LineageUnknown} when there is no such lineage.
   */
  commandFor(answer: Answer): Promise<LineageDecision>;
  modeOf(root: string, nodeReady: RecordedEvent | null): Promise<ModeSpec>;
  readonly models: ModelNames;
}

/** The lineage that an event names is not in this store. */
export class LineageUnknown extends Error {
  override readonly name = 'LineageUnknown';
}

export interface LineagesDeps {
  readonly store: EventStore;
  readonly catalog: Pick<ProtocolCatalog, 'modeOf'> & Partial<Pick<ProtocolCatalog, 'withdrawnReason'>>;
  /** Left out: only the playbook. */
  readonly models?: ModelNames;
  readonly clock: Pick<Clock, 'now'>;
  /** Of this process, for all paths; default: {@link lineageStates}. */
  readonly states?: StateCache<Lineage>;
  /** Left out: every lineage that is not in `states` is folded from its start. */
  readonly snapshots?: Snapshots<Lineage> | undefined;
  /** Lineages whose mode is kept. */
  readonly kept?: number;
  /** Told of what was stored; left out: nobody is. */
  readonly stored?: (events: readonly RecordedEvent[]) => void;
  /** Left out: every run starts at once. */
  readonly admissions?: Admissions;
}

/** The folded states that one process keeps. */
export const lineageStates = (kept = KEPT): StateCache<Lineage> => stateCache<Lineage>(kept);

export const lineagesOf = (deps: LineagesDeps): Lineages => {
  const { store, catalog, clock, snapshots, states = lineageStates(), kept = KEPT } = deps;
  const rules = new LRUCache<string, Rules>({ max: kept });
  const { admissions = new Admissions(NO_WINDOW) } = deps;
  const admit = admitting(admissions, states);

  const shell = (handler: string): DecisionShell<LineageCommand, LineageEvent, Lineage> => ({
    ...{ store, states, snapshots, clock, handler },
    decider: lineage,
    schemaVersionOf: (type) => definitionOf(type)?.version ?? 1,
  });

  const rulesOf = async (root: string, nodeReady: RecordedEvent | null): Promise<Rules> => {
    const known = rules.get(root);
    if (known) return known;
    const { scope, protocol } = nodeReady ? readEvent(nodeReady, 'node_ready') : await submissionOf(store, root);
    const found = { scope, protocol, mode: await catalog.modeOf(scope, protocol) };
    rules.set(root, found);
    return found;
  };

  const { models = ONLY_THE_PLAYBOOK } = deps;
  return {
    models,
    modeOf: async (root, nodeReady) => (await rulesOf(root, nodeReady)).mode,
    decide: async (handler, decisions) => {
      for (const { root, command } of decisions) if (command.type === 'submit_task') expectNew(states, root);
      const outcomes = await admit(decisions, (admitted) =>
        runDecisions(
          shell(handler),
          admitted.map(({ root, command, cause }) => ({ stream: lineageStream(root), root, command, cause })),
        ),
      );
      for (const outcome of outcomes) if (outcome.outcome === 'decided') deps.stored?.(outcome.events);
      return outcomes;
    },
    commandFor: async ({ root, command, cause, nodeReady }) => {
      const { mode, scope, protocol } = await rulesOf(root, nodeReady);
      const withdrawn = (await catalog.withdrawnReason?.(scope.project, protocol)) ?? null;
      const known = { agentModels: models.agents, withdrawn };
      const context = { now: clock.now().toISOString(), mode, askCondition: conditionAsker(), ...known };
      return { root, command: { ...command, ...context }, cause: { ...cause, correlation_id: root } };
    },
  };
};

/** What is submitted is most likely new: saves a read, and the version of the append proves it. */
const expectNew = (states: StateCache<Lineage>, root: string): void => {
  const stream = lineageStream(root);
  if (states.get(stream) === undefined) states.set(stream, { state: lineage.initial, version: 0 });
};

const submissionOf = async (store: Pick<EventStore, 'readStream'>, root: string): Promise<Scoped> => {
  const [submitted] = await store.readStream(lineageStream(root), 1, 1);
  if (!submitted) throw new LineageUnknown(root);
  return readEvent(submitted, 'task_submitted');
};
