import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { merged, type Statistics } from './statistics.ts';

const WORKER = fileURLToPath(new URL('./worker.ts', import.meta.url));

const inWorker = (from: number, seeds: number): Promise<Statistics> =>
  new Promise((resolve, reject) => {
    const worker = fork(WORKER, [String(from), String(seeds)], {
      execArgv: ['--conditions=@fixpoint/source', '--disable-warning=ExperimentalWarning', '--max-semi-space-size=64'],
    });
    worker.once('message', (statistics) => resolve(statistics as Statistics));
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`a worker ended with ${code} before its seeds were played`)));
  });

/** Plays the seeds `from` up to `from + seeds - 1` in as many processes. */
export const playSeeds = async (from: number, seeds: number, workers: number): Promise<Statistics> => {
  const share = Math.ceil(seeds / workers);
  const parts = Array.from({ length: workers }, (_, index) => Math.min(share, seeds - index * share));
  return merged(await Promise.all(parts.map((part, index) => inWorker(from + index * share, part))));
};
