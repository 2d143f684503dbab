import type { SimulatedProcess } from './simulated-process.ts';

/** Kills whoever makes a certain append: it is stored, and nobody was told. */
export const crashFuse = (crash: (process: SimulatedProcess) => void) => {
  let appends = 0;
  let at: number | null = null;
  let crashed: string | null = null;
  return {
    onStored: (process: SimulatedProcess): void => {
      appends += 1;
      if (appends !== at) return;
      crashed = process.name;
      crash(process);
    },
    crashAtAppend: (count: number): void => {
      at = appends + count;
    },
    appends: () => appends,
    crashed: () => crashed,
  };
};
