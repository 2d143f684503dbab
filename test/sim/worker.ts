import type { Share } from './play-seeds.ts';
import { simulate } from './simulate.ts';
import { noStatistics, note, type Statistics } from './statistics.ts';

/** Plays what it is told to, one seed after the other, and sends what they came to. */
const played = async ({ from, seeds }: Share): Promise<Statistics> => {
  const statistics = noStatistics();
  for (let seed = from; seed < from + seeds; seed += 1) note(statistics, await simulate(seed));
  return statistics;
};

process.on('message', async (share: Share) => {
  process.send?.(await played(share));
});
