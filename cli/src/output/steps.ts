import { Listr } from 'listr2';
import { oneLine, printable } from './printable.ts';
import type { Terminal } from './terminal.ts';

/** Something that takes long enough to be watched. */
export interface Step {
  readonly title: string;
  /** @param say tells where it stands. A failure is shown and ends only this step. */
  run(say: (line: string) => void): Promise<void>;
}

export interface StepOptions {
  readonly terminal: Terminal;
  /** Steps at a time. */
  readonly concurrency: number;
}

const WIDTH = 140;

/** Runs steps; draws them for a person, else writes one line on stderr for each thing said. Never throws for a step. */
export const runSteps = async (steps: readonly Step[], { terminal, concurrency }: StepOptions): Promise<void> => {
  const tasks = steps.map((step) => ({
    title: printable(step.title),
    task: (_: unknown, shown: { output: string }) =>
      step.run((line) => {
        if (terminal.isInteractive) shown.output = printable(oneLine(line, WIDTH));
        else terminal.note(`${step.title}: ${oneLine(line, WIDTH)}`);
      }),
  }));
  const how = { concurrent: concurrency, exitOnError: false, registerSignalListeners: false } as const;
  const list = terminal.isInteractive
    ? new Listr(tasks, { ...how, rendererOptions: { collapseErrors: false } })
    : new Listr(tasks, { ...how, renderer: 'silent' });
  await list.run();
};
