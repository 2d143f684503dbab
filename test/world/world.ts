import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { CURSOR_START } from '@fixpoint/contracts/envelope';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { memoryArtifacts } from '@fixpoint/event-store/memory-artifacts';
import { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import type { Bus } from '@fixpoint/messaging/bus';
import { type DeliveryPolicy, faithful } from '@fixpoint/messaging/delivery-policy';
import { memoryBus } from '@fixpoint/messaging/memory-bus';
import { memoryLeases } from '@fixpoint/messaging/memory-leases';
import { publishProtocol } from '@fixpoint/orchestrator/writing/publish-protocol';
import { submitTasks } from '@fixpoint/orchestrator/writing/submit';
import { type SimulatedClock, simulatedClock } from '@fixpoint/testing/simulated-clock';
import { startCompany } from './company.ts';
import { type CountedLeases, countedLeases } from './counted-leases.ts';
import { crashFuse } from './crash-fuse.ts';
import { fileTrees } from './file-trees.ts';
import type { Ground } from './foundations.ts';
import { type HeldBus, heldBus, type Route } from './held-bus.ts';
import { openLineages } from './open-lineages.ts';
import type { Scenario } from './scenario.ts';
import type { OrchestratorProcess } from './services.ts';
import type { SimulatedProcess } from './simulated-process.ts';

/** Adapters that are not of memory: what they do takes real time. */
export interface Carrier {
  readonly store: EventStore;
  readonly bus: Bus;
  /** Offers that were published and that no handler has answered. */
  readonly underway: () => number;
  readonly onAnswered: Ground['onAnswered'];
}

export interface WorldOptions {
  /** Default: store and bus of memory. */
  readonly carrier?: Carrier;
  readonly tokenIds?: Ground['tokenIds'];
  /** What the memory bus does with what was let go. Default: every message once, in order. */
  readonly policy?: DeliveryPolicy;
  /** What becomes of messages before that. Default: the oldest next, each once. */
  readonly route?: Route;
}

/** All services in one thread, on memory adapters and a clock that only {@link driveToRest} moves. */
export interface World {
  readonly store: EventStore;
  readonly bus: HeldBus;
  readonly clock: SimulatedClock;
  readonly route: Route;
  readonly ground: Ground;
  /** The one that is alive. */
  readonly orchestrator: () => OrchestratorProcess;
  readonly processes: readonly SimulatedProcess[];
  readonly leases: readonly CountedLeases[];
  readonly reports: readonly string[];
  /** Offers that are on their way through a real broker. */
  readonly underway: () => number;
  /** Roots that have neither ended nor wait for a human. */
  readonly openLineages: () => Promise<readonly string[]>;
  /** Kills the process that makes this append, counted from now, when it has stored and before it knows. */
  crashAtAppend(count: number): void;
  /** Appends so far. */
  readonly appends: () => number;
  /** Name of the process that {@link crashAtAppend} killed. */
  readonly crashed: () => string | null;
  submit(scenarios: readonly Scenario[]): Promise<void>;
  /** Everything stored so far, in the order of the store. */
  events(): Promise<readonly RecordedEvent[]>;
}

export const inOrder: Route = { next: () => 0, fate: () => ({ copies: 1 }) };

const inMemory = (clock: SimulatedClock, policy: DeliveryPolicy, report: (what: string) => void): Carrier => ({
  store: new MemoryEventStore(),
  bus: memoryBus({ clock, policy, report: (what, cause) => report(`${what}: ${cause}`) }),
  underway: () => 0,
  onAnswered: () => undefined,
});

export const startWorld = async ({
  tokenIds = 'by_run',
  policy = faithful,
  route = inOrder,
  carrier,
}: WorldOptions = {}): Promise<World> => {
  const clock = simulatedClock();
  const reports: string[] = [];
  const report = (what: string): void => void reports.push(what);
  const { store, bus: inner, underway, onAnswered } = carrier ?? inMemory(clock, policy, report);
  const bus = heldBus(inner, clock);
  const artifacts = memoryArtifacts();
  const counted = () => countedLeases(memoryLeases(clock), clock);
  const [executorLeases, validatorLeases, decomposerLeases] = [counted(), counted(), counted()];
  const leases = { executor: executorLeases, validator: validatorLeases, decomposer: decomposerLeases };
  const trees = fileTrees(artifacts);
  const fuse = crashFuse((process) => ground.crash(process));
  const crash = (process: SimulatedProcess): void => void company.replace(process);
  const ground: Ground = {
    ...{ store, bus, artifacts, clock, leases, trees, outside: new Map(), tokenIds, report, onAnswered, crash },
    onStored: fuse.onStored,
    disturb: {},
  };
  const company = await startCompany(ground);
  return {
    ...{ store, bus, clock, route, ground, reports, underway, ...fuse, ...company },
    leases: [executorLeases, validatorLeases, decomposerLeases],
    openLineages: openLineages(store),
    submit: (scenarios) => submit(ground, company.orchestrator(), scenarios),
    events: () => allEvents(store),
  };
};

const PAGE = 1_000;

const allEvents = async (store: EventStore): Promise<readonly RecordedEvent[]> => {
  const all: RecordedEvent[] = [];
  for (let page = await store.readAll(CURSOR_START, PAGE); page.events.length > 0; ) {
    all.push(...page.events);
    page = await store.readAll(page.next, PAGE);
  }
  return all;
};

/** Through the same doors as the API's, with a key, so that every world gives a lineage the same id. */
const submit = async (
  { store, clock, trees }: Ground,
  { orchestrator }: OrchestratorProcess,
  scenarios: readonly Scenario[],
): Promise<void> => {
  for (const { name, protocol, outages = {} } of scenarios) {
    for (const [url, times] of Object.entries(outages)) trees.cutOff(url, times);
    if (protocol === undefined) continue;
    const published = await publishProtocol({ store, clock }, { ...protocol, kind: 'protocol/v1', name }, 'spec');
    if (!published.published) throw new Error(`${name}: ${JSON.stringify(published.diagnostics)}`);
  }
  const tasks = scenarios.map(({ name, task }) => ({
    document: { ...task, kind: 'task/v1', name },
    idempotency_key: name,
  }));
  const results = await submitTasks(orchestrator.submissions, tasks, 'spec');
  const refused = results.filter(({ outcome }) => outcome === 'refused');
  if (refused.length > 0) throw new Error(JSON.stringify(refused));
};
