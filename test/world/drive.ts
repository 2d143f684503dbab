import type { World } from './world.ts';

/** Rounds that one world may take until it rests; far more than any scenario needs. */
const MOST_ROUNDS = 50_000;
/** Real time that one handler may take for work that is not simulated. */
const LONGEST_REAL_MS = 10_000;

/** A real broker needs time between one look and the next. */
const BROKER_MS = 2;

const turn = ({ underway }: World): Promise<void> =>
  new Promise((resolve) => {
    if (underway() > 0) setTimeout(resolve, BROKER_MS);
    else setImmediate(resolve);
  });

const isQuiet = ({ processes, underway }: World): boolean =>
  processes.every((process) => process.busy() === 0) &&
  underway() <= processes.reduce((sum, process) => sum + process.asleep(), 0);

/** Waits until nobody is at work who does not wait for a message or for time. */
const settle = async (world: World): Promise<void> => {
  const started = performance.now();
  for (let quiet = 0; quiet < 2; ) {
    await turn(world);
    quiet = isQuiet(world) ? quiet + 1 : 0;
    if (performance.now() - started > LONGEST_REAL_MS)
      throw new Error(`a handler does not come back; ${world.underway()} offers are underway; ${world.reports}`);
  }
};

const stored = async ({ store }: World): Promise<string> => (await store.watermark()).visible.position;

/** Waits until everything that was stored can be seen by those who follow the log. */
const visible = async (world: World): Promise<void> => {
  while ((await world.store.watermark()).ageMs > 0) await turn(world);
};

/** One round of all background work. Who is killed in the middle of it never comes back. */
const backgroundRound = async (world: World): Promise<void> => {
  for (const process of world.processes) {
    for (const round of process.rounds) {
      if (process.isAlive()) await Promise.race([round(process.undisturbed), process.death]);
    }
  }
};

/** Lets go of every message that is due, one at a time. */
export const deliverAll = async (world: World): Promise<void> => {
  await settle(world);
  while (await world.bus.letGo(world.route)) await settle(world);
};

/** Everything that can happen at this time has happened. */
const exhaustTheMoment = async (world: World): Promise<void> => {
  for (let before = ''; ; ) {
    await deliverAll(world);
    await visible(world);
    await backgroundRound(world);
    await settle(world);
    const after = `${await stored(world)} ${world.bus.published.length}`;
    if (after === before && world.bus.nextDueMs() !== 0) return;
    before = after;
  }
};

const nextWakeMs = ({ clock, bus, orchestrator, leases }: World): number => {
  const dueAt = orchestrator().waits.nextDueAt();
  const waitsMs = dueAt === null ? Number.POSITIVE_INFINITY : Date.parse(dueAt) - clock.now().getTime();
  const looksMs = leases.map((each) => each.nextLookMs());
  const others = [clock.nextWakeMs(), bus.nextDueMs(), ...looksMs].map((ms) => ms ?? Number.POSITIVE_INFINITY);
  return Math.max(1, Math.min(waitsMs, ...others));
};

/** Nobody sleeps, no message waits, and every lineage has ended or is with a human. */
const isAtRest = async (world: World): Promise<boolean> => {
  if (world.clock.nextWakeMs() !== null || world.bus.nextDueMs() !== null) return false;
  return (await world.openLineages()).length === 0;
};

/**
 * Moves the world on, from one thing that is due to the next, until it rests.
 * @throws when nothing is due although a lineage is open, or when there is no end to it.
 */
export const driveToRest = (world: World): Promise<void> => driveUntil(world, isAtRest);

/**
 * The same, for what does not end by itself: moves the world on until `isReached`.
 * @throws as {@link driveToRest}.
 */
export const driveUntil = async (world: World, isReached: (world: World) => Promise<boolean>): Promise<void> => {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    await exhaustTheMoment(world);
    if (await isReached(world)) return;
    const wakeMs = nextWakeMs(world);
    if (wakeMs === Number.POSITIVE_INFINITY) throw new Error(`stuck: ${await world.openLineages()}`);
    await world.clock.advance(wakeMs);
  }
  throw new Error(`no rest after ${MOST_ROUNDS} rounds: ${await world.openLineages()}`);
};
