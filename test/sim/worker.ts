import { simulate } from './simulate.ts';
import { noStatistics, note } from './statistics.ts';

/** `worker.ts FROM SEEDS`: plays them one after the other and sends what they came to. */
const main = async ([from = 0, seeds = 0]: readonly number[]): Promise<void> => {
  const statistics = noStatistics();
  for (let seed = from; seed < from + seeds; seed += 1) note(statistics, await simulate(seed));
  process.send?.(statistics);
  process.disconnect();
};

await main(process.argv.slice(2).map(Number));
