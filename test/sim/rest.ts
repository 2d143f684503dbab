import type { LineageWaits } from '@fixpoint/orchestrator/waits/wait-rows';
import type { SimWorld } from './sim-world.ts';

/** Loops rest between two rounds. */
const LOOP_PAUSE_MS = 1_000;
/** A handler hangs that is still at work after so many looks and so long: signatures are made on other threads, in their own time. */
const MOST_TURNS = 20_000;
const LONGEST_TURN_MS = 5_000;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const isQuiet = ({ staff }: SimWorld): boolean =>
  !staff.isStarting() && staff.processes().every((process) => process.busy() === 0);

/** Waits until nobody is at work who does not wait for a message or for time. */
const settle = async (world: SimWorld): Promise<void> => {
  let quiet = 0;
  const startedAt = performance.now();
  for (let turns = 0; quiet < 2; turns += 1) {
    await turn();
    quiet = isQuiet(world) ? quiet + 1 : 0;
    if (quiet === 0) await world.barrier.admitNext();
    if (turns > MOST_TURNS && performance.now() - startedAt > LONGEST_TURN_MS)
      throw new Error(`a handler does not come back: ${world.reports.at(-1)}`);
  }
};

/** One round of all background work. Who is killed in the middle of it never comes back. */
const backgroundRound = async (world: SimWorld): Promise<void> => {
  for (const process of world.staff.processes()) {
    for (const round of process.rounds) {
      if (!process.isAlive()) continue;
      const done = round(process.undisturbed).catch((error: unknown) =>
        world.ground.report(`a loop stumbled: ${error}`),
      );
      await Promise.race([done, process.death]);
    }
  }
};

const deliverAll = async (world: SimWorld): Promise<void> => {
  await settle(world);
  let isUnanswered = false;
  while (await world.bus.letGo(world.route)) {
    // Sometimes the next message is there before the last one was answered.
    isUnanswered = world.choices.happens('at_once', world.numbered('message'), 0.1);
    if (!isUnanswered) await settle(world);
  }
  if (isUnanswered) await settle(world);
};

const markOf = ({ log, bus }: SimWorld): string => `${log.length} ${bus.published.length}`;

/** Everything that can happen at this time has happened. */
const exhaustTheMoment = async (world: SimWorld): Promise<void> => {
  for (;;) {
    await deliverAll(world);
    const before = markOf(world);
    await backgroundRound(world);
    await settle(world);
    if (markOf(world) === before && world.bus.nextDueMs() !== 0) return;
  }
};

/** Rows that are looked at for ever, in case something was forgotten. */
const isSweep = (row: object): boolean => 'kind' in row && row.kind === 'epic';

const dueIn = (rows: LineageWaits, withSweeps: boolean): readonly string[] =>
  [...Object.values(rows.waiting), ...Object.values(rows.timers)]
    .filter((row) => withSweeps || !isSweep(row))
    .flatMap(({ next_at: at }) => at ?? []);

/** Ms until something is due; infinite when nothing ever is. */
const nextWakeMs = ({ clock, bus, staff, leases, pauseEnds }: SimWorld, withSweeps: boolean): number => {
  const now = clock.now().getTime();
  const waits = staff.orchestrators().flatMap(({ waits: own }) => [...own.all().values()]);
  const due = [
    // What is late for whatever reason is looked at in the next round of a loop.
    ...waits.flatMap((rows) => dueIn(rows, withSweeps)).map((at) => Math.max(LOOP_PAUSE_MS, Date.parse(at) - now)),
    // Once it is over nobody has to ask the provider anything, so it is looked at then and not for ever.
    ...pauseEnds().map((at) => (at > now ? at - now : null)),
    ...[clock.nextWakeMs(), bus.nextDueMs(), ...leases.map((each) => each.nextLookMs())],
  ];
  return Math.max(1, Math.min(...due.map((ms) => ms ?? Number.POSITIVE_INFINITY)));
};

/** What happens between moments that nobody in the world causes. */
export type Interference = (world: SimWorld) => Promise<void>;

/** Lets everything happen that can at this time, with what somebody outside does then. */
const exhaustWith = async (world: SimWorld, interfere: Interference): Promise<void> => {
  await exhaustTheMoment(world);
  const processes = world.staff.processes();
  const mark = markOf(world);
  await interfere(world);
  if (world.staff.processes() !== processes || markOf(world) !== mark || !isQuiet(world)) await exhaustTheMoment(world);
};

/** More than any world needs, unless it goes round in circles. */
const MOST_ROUNDS = 6_000;
/** A world in which nothing new was stored for so long rests, also when something is asked again and again. */
const STILL_MS = 26 * 3_600_000;
/** Sweeps that may still find something after the last thing that happened. */
const ROUNDS_OF_SWEEPS = 10;
/** Whoever interferes looks at least so often. */
const LOOK_MS = 180_000;
/** Rounds in which nothing new is stored, however much is said. */
const MOST_IDLE_ROUNDS = 1_500;

/**
 * Moves the world on from one thing that is due to the next until nothing ever is, or until the time is over.
 * @throws when there is no end to it.
 */
export const playUntil = async (world: SimWorld, untilMs: number, interfere: Interference): Promise<void> => {
  let grewIn = 0;
  let grewAtMs = world.clock.monotonicMs();
  let known = world.log.length;
  for (let round = 0; round < MOST_ROUNDS && round - grewIn < MOST_IDLE_ROUNDS; round += 1) {
    await exhaustWith(world, interfere);
    if (world.log.length > known) {
      grewIn = round;
      grewAtMs = world.clock.monotonicMs();
    }
    known = world.log.length;
    const wakeMs = nextWakeMs(world, round - grewIn < ROUNDS_OF_SWEEPS);
    if (
      (wakeMs === Number.POSITIVE_INFINITY && untilMs === wakeMs) ||
      world.clock.monotonicMs() >= Math.min(untilMs, grewAtMs + STILL_MS)
    )
      return;
    await world.clock.advance(untilMs === Number.POSITIVE_INFINITY ? wakeMs : Math.min(wakeMs, LOOK_MS));
  }
  throw new Error(`no rest, and nothing new since ${world.log.length} events`);
};
