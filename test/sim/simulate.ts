import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { publishProtocol } from '@fixpoint/orchestrator/writing/publish-protocol';
import { submitTasks } from '@fixpoint/orchestrator/writing/submit';
import { checkAll } from './checks.ts';
import { choices } from './choices.ts';
import { type RandomTask, randomTask } from './documents.ts';
import { operators } from './operators.ts';
import { people } from './people.ts';
import { producers } from './producers.ts';
import { type Interference, playUntil } from './rest.ts';
import { type SimWorld, startSimWorld } from './sim-world.ts';
import { isStormy } from './storms.ts';

export interface Simulated {
  readonly seed: number;
  /** What of this world breaks which rule; empty when all is well. */
  readonly broken: readonly string[];
  readonly events: readonly RecordedEvent[];
  /** Everything out of the ordinary that happened. */
  readonly taken: readonly string[];
}

/** How long things go wrong; afterwards everybody has all the time there is. */
const STORM_MS = 45 * 60_000;
const MOST_TASKS = 3;

/**
 * Plays one world to its end and checks it.
 * @param only when given, nothing else happens that is out of the ordinary: for making a failing world smaller.
 */
export const simulate = async (seed: number, only?: ReadonlySet<string>): Promise<Simulated> => {
  const drawn = choices(seed, only);
  const world = await startSimWorld(drawn);
  const broken = await played(world);
  return { seed, broken, events: world.log, taken: drawn.taken };
};

const played = async (world: SimWorld): Promise<readonly string[]> => {
  try {
    const more = world.choices.pick('tasks', 'more', { share: 0.4, options: MOST_TASKS - 1 });
    const count = isStormy(world.choices) ? MOST_TASKS : 1 + more;
    for (let index = 0; index < count; index += 1) await submit(world, randomTask(world.choices, `t${index}`));
    await playUntil(world, STORM_MS, outsiders(world));
    world.choices.calm();
    await playUntil(world, Number.POSITIVE_INFINITY, operators(world));
    return await checkAll(world);
  } catch (error) {
    return [`the simulator: ${error instanceof Error ? error.stack : error}`];
  }
};

const submit = async (world: SimWorld, { name, task, protocol }: RandomTask): Promise<void> => {
  const { store, clock } = world.ground;
  if (protocol !== null) {
    const published = await publishProtocol({ store, clock }, { ...protocol, kind: 'protocol/v1', name }, 'sim');
    if (!published.published) throw new Error(`${name}: ${JSON.stringify(published.diagnostics)}`);
  }
  const document = { document: { ...task, kind: 'task/v1', name }, idempotency_key: name };
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const [orchestrator] = world.staff.orchestrators();
    if (orchestrator === undefined) {
      await world.clock.advance(5_000);
      continue;
    }
    const { submissions } = orchestrator.orchestrator;
    // Whoever gets no answer asks again with the same key.
    const results = await Promise.race([
      submitTasks(submissions, [document], 'sim').catch(() => null),
      orchestrator.process.death.then(() => null),
    ]);
    if (results?.[0]?.outcome === 'refused') throw new Error(`${name}: ${JSON.stringify(results)}`);
    if (results !== null) return;
  }
  throw new Error(`${name} was never taken`);
};

/** Everybody who does something to this world from outside. */
const outsiders = (world: SimWorld): Interference => {
  const all = [people(world), producers(world), operators(world)];
  return async () => {
    interfere(world);
    for (const each of all) await each();
  };
};

const MINUTE_MS = 60_000;

/** Once a minute of the world's time: who is restarted, and whether the broker loses what it has. */
const interfere = (world: SimWorld): void => {
  const minute = Math.floor(world.clock.monotonicMs() / MINUTE_MS);
  if (world.choices.happens('broker_wiped', `minute ${minute}`, 0.01)) world.bus.wipe();
  for (const process of world.staff.processes()) {
    const key = `${process.name} minute ${minute}`;
    if (world.choices.happens('restart', key, 0.01)) world.crash(process, key);
  }
};
