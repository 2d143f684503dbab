import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Measurement, WARM_UP } from './measure.ts';
import type { Mode } from './measured-installation.ts';

const run = promisify(execFile);

export interface TelemetryCostOptions {
  readonly mode: Mode;
  readonly tasks: number;
  readonly oneByOne: number;
  readonly rounds: number;
  /** Of this process; the measurements get it without what it says of telemetry. */
  readonly env: Readonly<Record<string, string | undefined>>;
  onProgress(line: string): void;
}

/** Medians over all rounds. */
export interface TelemetryCost {
  readonly mode: Mode;
  readonly telemetry: string;
  readonly tasks_per_second: number;
  readonly p50_ms: number;
  readonly cpu_ms_per_task: number | null;
  /** What went to the collector, bytes per task, warm-up included. */
  readonly otlp_bytes_per_task: number;
}

/** Nothing is dropped: what is measured is the cost of sending all of it. */
const QUEUE = { OTEL_BSP_MAX_QUEUE_SIZE: '1000000' };

const VARIANTS: Readonly<Record<string, Readonly<Record<string, string>> | null>> = {
  off: null,
  'all lineages': QUEUE,
  '1 of 100 lineages': { ...QUEUE, OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.01' },
  'metrics only': { OTEL_TRACES_EXPORTER: 'none' },
};

/** Measures without telemetry and with it, in turns and in an order that turns too; each with servers of its own. */
export const telemetryCost = async (options: TelemetryCostOptions): Promise<readonly TelemetryCost[]> => {
  const results = new Map<string, Sample[]>(Object.keys(VARIANTS).map((name) => [name, []]));
  for (let round = 0; round < options.rounds; round += 1) {
    const names = Object.keys(VARIANTS);
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      options.onProgress(`${options.mode}, telemetry ${name}, round ${round + 1} of ${options.rounds}`);
      results.get(name)?.push(await sample(options, VARIANTS[name] ?? null));
    }
  }
  return [...results].map(([telemetry, samples]) => ({ mode: options.mode, telemetry, ...medians(samples) }));
};

type Sample = Pick<Measurement, 'tasks_per_second' | 'p50_ms' | 'cpu_ms_per_task'> & { readonly bytes: number };

const sample = async (
  options: TelemetryCostOptions,
  variant: Readonly<Record<string, string>> | null,
): Promise<Sample> => {
  const plain = Object.fromEntries(Object.entries(options.env).filter(([key]) => !key.startsWith('OTEL_')));
  if (variant === null) return { ...(await measured(options, plain)), bytes: 0 };
  const sink = await startSink();
  const measurement = await measured(options, { ...plain, ...variant, OTEL_EXPORTER_OTLP_ENDPOINT: sink.url });
  return { ...measurement, bytes: (await sink.stop()) / (WARM_UP + options.tasks + options.oneByOne) };
};

const TASKS = fileURLToPath(new URL('./tasks.js', import.meta.url));

const measured = async (
  { mode, tasks, oneByOne }: TelemetryCostOptions,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Measurement> => {
  const given = ['--json', '--mode', mode, '--tasks', String(tasks), '--one-by-one', String(oneByOne)];
  const { stdout } = await run(process.execPath, [...process.execArgv, TASKS, ...given], { env });
  return JSON.parse(stdout);
};

const startSink = async () => {
  const sink: ChildProcess = spawn(process.execPath, [fileURLToPath(new URL('./otlp-sink.js', import.meta.url))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (sink.stdout === null) throw new Error('the sink has no output');
  const lines = createInterface({ input: sink.stdout });
  const [url] = await once(lines, 'line');
  return {
    url: String(url),
    /** @returns the bytes that it took. */
    stop: async (): Promise<number> => {
      const said = once(lines, 'line');
      sink.kill('SIGTERM');
      const [bytes] = await said;
      return Number(bytes);
    },
  };
};

const medians = (samples: readonly Sample[]) => {
  const of = (value: (sample: Sample) => number | null): number | null => {
    const values = samples.flatMap((each) => value(each) ?? []).toSorted((a, b) => a - b);
    return values[values.length >> 1] ?? null;
  };
  return {
    tasks_per_second: of((each) => each.tasks_per_second) ?? Number.NaN,
    p50_ms: of((each) => each.p50_ms) ?? Number.NaN,
    cpu_ms_per_task: of((each) => each.cpu_ms_per_task),
    otlp_bytes_per_task: of((each) => each.bytes) ?? 0,
  };
};
