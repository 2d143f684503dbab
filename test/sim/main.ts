import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { foundSpec } from './found-spec.ts';
import { historyLines } from './history.ts';
import { playSeeds } from './play-seeds.ts';
import { shrink } from './shrink.ts';
import { simulate } from './simulate.ts';
import { reportOf } from './statistics.ts';

const USAGE = `npm run sim -- --seeds N [--from K] [--workers W]   plays N worlds, from seed K on (default: a new one each time)
npm run sim -- --seed S [--write NAME]                plays one world; what breaks is shown as small as it can be made,
                                                      and written as test/sim/found/NAME.spec.ts`;

const one = async (seed: number, name: string | undefined): Promise<number> => {
  const played = await simulate(seed);
  if (played.broken.length === 0) {
    console.log(`${historyLines(played.events).join('\n')}\nseed ${seed}: all is well`);
    return 0;
  }
  console.log(
    `seed ${seed} breaks: ${played.broken.join('\n')}\n${played.taken.length} things out of the ordinary; shrinking`,
  );
  const { smallest, tries } = await shrink(played, (only) => simulate(seed, only));
  console.log(historyLines(smallest.events).join('\n'));
  console.log(`after ${tries} tries, ${smallest.taken.length} are left:\n  ${smallest.taken.join('\n  ')}`);
  console.log(smallest.broken.join('\n'));
  if (name !== undefined) {
    mkdirSync('test/sim/found', { recursive: true });
    writeFileSync(`test/sim/found/${name}.spec.ts`, foundSpec(name, smallest));
  }
  return 1;
};

const many = async (from: number, seeds: number, workers: number): Promise<number> => {
  const startedAt = performance.now();
  console.log(`seeds ${from} to ${from + seeds - 1}`);
  const statistics = await playSeeds(from, seeds, workers);
  console.log(reportOf(statistics));
  console.log(`${Math.round((performance.now() - startedAt) / 1_000)} s`);
  return statistics.failures.length === 0 ? 0 : 1;
};

/** Seeds that nobody has played yet, most likely. */
const newSeed = (): number => Math.floor(Math.random() * 1_000_000_000);

const main = async (): Promise<number> => {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string' },
      seed: { type: 'string' },
      from: { type: 'string' },
      workers: { type: 'string' },
      write: { type: 'string' },
    },
  });
  if (values.seed !== undefined) return one(Number(values.seed), values.write);
  const seeds = Number(values.seeds);
  if (!(seeds > 0)) {
    console.error(USAGE);
    return 2;
  }
  return many(values.from === undefined ? newSeed() : Number(values.from), seeds, Number(values.workers ?? 2));
};

process.exitCode = await main();
