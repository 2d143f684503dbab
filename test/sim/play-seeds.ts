import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { merged, type Statistics } from './statistics.ts';

const WORKER = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** Seeds that a worker is given at once: few enough for all workers to end at about the same time. */
const AT_ONCE = 20;

/** What a worker is told: the first seed and how many. */
export interface Share {
  readonly from: number;
  readonly seeds: number;
}

const asked = (worker: ChildProcess, share: Share): Promise<Statistics> =>
  new Promise((resolve, reject) => {
    const gone = (code: number | null): void =>
      reject(new Error(`a worker ended with ${code} before its seeds were played`));
    worker.once('exit', gone);
    worker.once('error', reject);
    worker.once('message', (statistics) => {
      worker.off('exit', gone);
      worker.off('error', reject);
      resolve(statistics as Statistics);
    });
    worker.send(share);
  });

/** One process that plays shares until there are none; what runs often is compiled once. */
const inWorker = async (nextShare: () => Share | undefined): Promise<Statistics> => {
  const worker = fork(WORKER, [], {
    execArgv: ['--conditions=@fixpoint/source', '--disable-warning=ExperimentalWarning', '--max-semi-space-size=64'],
  });
  const parts: Statistics[] = [];
  try {
    for (let share = nextShare(); share !== undefined; share = nextShare()) parts.push(await asked(worker, share));
  } finally {
    if (worker.connected) worker.disconnect();
  }
  return merged(parts);
};

/** Plays the seeds `from` up to `from + seeds - 1` in as many processes. */
export const playSeeds = async (from: number, seeds: number, workers: number): Promise<Statistics> => {
  let given = 0;
  const nextShare = (): Share | undefined => {
    if (given >= seeds) return undefined;
    const share = { from: from + given, seeds: Math.min(AT_ONCE, seeds - given) };
    given += share.seeds;
    return share;
  };
  return merged(await Promise.all(Array.from({ length: workers }, () => inWorker(nextShare))));
};
