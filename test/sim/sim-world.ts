import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { memoryArtifacts } from '@fixpoint/event-store/memory-artifacts';
import { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import { memoryBus } from '@fixpoint/messaging/memory-bus';
import { memoryLeases } from '@fixpoint/messaging/memory-leases';
import { type SimulatedClock, simulatedClock } from '@fixpoint/testing/simulated-clock';
import { type CountedLeases, countedLeases } from '../world/counted-leases.ts';
import { fileTrees } from '../world/file-trees.ts';
import type { Ground } from '../world/foundations.ts';
import { type HeldBus, heldBus, type Route } from '../world/held-bus.ts';
import type { SimulatedProcess } from '../world/simulated-process.ts';
import { type Barrier, barrier } from './barrier.ts';
import type { Choices } from './choices.ts';
import { handIn } from './hand-in.ts';
import { mishaps } from './mishaps.ts';
import { pauseEnds } from './pauses.ts';
import { type Staff, startStaff } from './staff.ts';
import { traffic } from './traffic.ts';

/** A whole installation in one thread, with everything in it that can go wrong. */
export interface SimWorld {
  readonly choices: Choices;
  readonly clock: SimulatedClock;
  readonly bus: HeldBus;
  readonly route: Route;
  readonly ground: Ground;
  readonly staff: Staff;
  readonly barrier: Barrier;
  readonly numbered: (name: string) => string;
  readonly leases: readonly CountedLeases[];
  /** What services told people, and what else went wrong that nobody planned. */
  readonly reports: readonly string[];
  crash(process: SimulatedProcess, key: string): void;
  /** Everything stored so far, in the order of the store. */
  readonly log: readonly RecordedEvent[];
  /** When providers may be asked again, ms since 1970. */
  readonly pauseEnds: () => readonly number[];
}

/** A name with a number for each time that it is asked for. */
const counter = (): ((name: string) => string) => {
  const counts = new Map<string, number>();
  return (name) => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return `${name} (${count})`;
  };
};

/** Also remembers the log itself, so that nobody has to read it page by page. */
class LoggedStore extends MemoryEventStore {
  readonly events: RecordedEvent[] = [];

  override async append(append: Parameters<MemoryEventStore['append']>[0]) {
    const outcome = await super.append(append);
    if (outcome.outcome === 'appended') this.events.push(...outcome.events);
    return outcome;
  }

  override async appendAll(appends: Parameters<MemoryEventStore['appendAll']>[0]) {
    const outcomes = await super.appendAll(appends);
    for (const outcome of outcomes) if (outcome.outcome === 'appended') this.events.push(...outcome.events);
    return outcomes;
  }
}

const LONGEST_DOWN_MS = 240_000;
const DOWNTIMES = 20;

export const startSimWorld = async (choices: Choices): Promise<SimWorld> => {
  const clock = simulatedClock();
  const reports: string[] = [];
  const report = (what: string): void => void reports.push(what);
  const store = new LoggedStore();
  const bus = heldBus(memoryBus({ clock, report: (what, cause) => report(`${what}: ${cause}`) }), clock);
  const artifacts = memoryArtifacts();
  const numbered = counter();
  const outside = barrier();
  const counted = () => countedLeases(memoryLeases(clock), clock);
  const leases = [counted(), counted(), counted()] as const;

  const crash = (process: SimulatedProcess, key: string): void => {
    if (!process.isAlive()) return;
    const down = choices.pick('down', key, { share: 0.3, options: DOWNTIMES });
    staff.crash(process, Math.ceil(LONGEST_DOWN_MS * (down / DOWNTIMES) ** 2));
  };
  const ground: Ground = {
    ...{ store, bus, artifacts, clock, report },
    leases: { executor: leases[0], validator: leases[1], decomposer: leases[2] },
    trees: fileTrees(artifacts),
    outside: new Map(),
    tokenIds: 'by_sequence',
    onAnswered: () => undefined,
    onStored: () => undefined,
    crash: (process) => crash(process, numbered('crash program')),
    disturb: {
      ...mishaps({ choices, clock, barrier: outside, numbered, crash }),
      handIn: handIn(outside, () => staff),
    },
  };
  const staff = await startStaff(
    () => ground,
    (service) => 1 + choices.pick('replicas', service, { share: 0.3, options: 1 }),
    (error) => report(`a process did not start: ${error}`),
  );
  return {
    route: traffic(choices),
    pauseEnds: pauseEnds(store.events),
    ...{ choices, clock, bus, ground, staff, barrier: outside, numbered, leases, reports, crash, log: store.events },
  };
};
