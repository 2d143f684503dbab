import type { Client } from '@fixpoint/client/client';
import type { Example } from '@fixpoint/examples/examples';
import { runExample } from '@fixpoint/examples/run-example';
import { statusOf } from './output/lineage-tree.ts';
import { progressLine } from './output/progress-line.ts';
import { runSteps } from './output/steps.ts';
import type { Terminal } from './output/terminal.ts';

export interface Ran {
  /** In the order of the examples; only those whose lineage exists. */
  readonly lineages: readonly { readonly example: string; readonly lineage: string }[];
  /** What is not as the examples say, one sentence each; empty when everything is. */
  readonly surprises: readonly string[];
}

export interface RunExamplesOptions {
  readonly client: Client;
  readonly terminal: Terminal;
  /** Of the examples' commands. */
  readonly path: string;
  /** Where executors answer workers. */
  readonly workerUrl: string;
  /** Absolute; the repositories are made below it. */
  readonly folder: string;
  /** Of an example that waits for a human. */
  decide(handoff: string, args: readonly string[]): Promise<void>;
}

const AT_A_TIME = 3;
const TIMEOUT_MS = 150_000;

/** Runs examples, some at a time, each to its end. One that fails is a surprise and stops no other. */
export const runExamples = async (examples: readonly Example[], options: RunExamplesOptions): Promise<Ran> => {
  const lineages = new Map<string, string>();
  const surprises: string[] = [];
  const steps = examples.map((example) => ({
    title: example.name,
    run: async (say: (line: string) => void) => {
      const found = await surprisesOf(example, {
        ...options,
        say,
        onSubmitted: (lineage) => void lineages.set(example.name, lineage),
      });
      surprises.push(...found.map((surprise) => `${example.name}: ${surprise}`));
      if (found.length > 0) throw new Error(found.join('; '));
    },
  }));
  await runSteps(steps, { terminal: options.terminal, concurrency: AT_A_TIME });
  const lineagesInOrder = examples.flatMap(({ name }) => {
    const lineage = lineages.get(name);
    return lineage === undefined ? [] : [{ example: name, lineage }];
  });
  return { lineages: lineagesInOrder, surprises };
};

interface OneOptions extends RunExamplesOptions {
  say(line: string): void;
  onSubmitted(lineage: string): void;
}

const surprisesOf = async (example: Example, options: OneOptions): Promise<readonly string[]> => {
  const over = new AbortController();
  try {
    const ran = await runExample(example, {
      ...options,
      timeoutMs: TIMEOUT_MS,
      onSubmitted: (_, lineage) => {
        options.onSubmitted(lineage);
        options.say(`lineage ${lineage}`);
        if (options.terminal.isInteractive) sayProgress(lineage, options, over.signal).catch(() => undefined);
      },
    });
    options.say(`${statusOf(ran.lineage)} after ${ran.lineage.events} events`);
    return ran.surprises;
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  } finally {
    over.abort();
  }
};

/** For people who look on; whether it works changes nothing. */
const sayProgress = async (lineage: string, { client, say }: OneOptions, signal: AbortSignal): Promise<void> => {
  for await (const event of client.follow(lineage, { signal })) {
    const line = progressLine(event);
    if (line !== null && !signal.aborted) say(line);
  }
};
