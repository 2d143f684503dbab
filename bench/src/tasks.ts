import { parseArgs } from 'node:util';
import { startTelemetry } from '@fixpoint/runtime/telemetry/start-telemetry';
import { type Measurement, measure } from './measure.ts';
import { type Mode, startMeasured } from './measured-installation.ts';
import { natsVersion } from './nats-version.ts';
import { storedTasks } from './stored-tasks.ts';
import { type TelemetryCost, telemetryCost } from './telemetry-cost.ts';

const USAGE = `npm run bench:tasks [-- --tasks 1000] [--one-by-one 300] [--mode embedded|processes] [--json]
Tasks per second of one-node tasks sent as a batch, and the time of one task when there is no other.
--telemetry [--rounds 3]: the same without telemetry and with it, in turns. Without it, OTEL_* turn telemetry on.`;

const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '1000' },
    'one-by-one': { type: 'string', default: '300' },
    mode: { type: 'string', multiple: true, default: ['embedded', 'processes'] },
    telemetry: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

interface Record extends Measurement {
  readonly mode: Mode;
  readonly node: string;
  readonly postgres: string;
  readonly nats: string;
}

/** Of the services where they are in this process; it is nobody's business where they have processes of their own. */
const telemetry =
  values.telemetry || values.mode.includes('processes') ? null : await startTelemetry('fixpoint', process.env);

const telemetryEnv = () =>
  Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => /^OTEL_/.test(entry[0]) && !!entry[1]),
  );

const measureMode = async (mode: Mode): Promise<Record> => {
  const installation = await startMeasured(mode, {
    path: process.env.PATH ?? '',
    dockerHost: process.env.DOCKER_HOST ?? null,
    telemetry,
    telemetryEnv: telemetryEnv(),
    onProgress: (line) => console.error(`${mode}: ${line}`),
  });
  try {
    const store = await storedTasks(installation.postgresUrl);
    try {
      const options = { tasks: count(values.tasks), oneByOne: count(values['one-by-one']) };
      const measured = await measure(installation, store, options);
      const versions = { node: process.version, postgres: await store.version() };
      return { mode, ...measured, ...versions, nats: await natsVersion(installation.natsUrl) };
    } finally {
      await store.close();
    }
  } finally {
    await installation.close();
  }
};

const count = (text: string): number => {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`${text} is not a number of tasks`);
};

const modeOf = (text: string): Mode => {
  if (text === 'embedded' || text === 'processes') return text;
  throw new Error(`${text} is neither embedded nor processes`);
};

const print = (records: readonly Record[]): void => {
  console.table(
    Object.fromEntries(
      records.map((record) => [
        record.mode,
        {
          tasks: record.tasks,
          'tasks/s': Math.round(record.tasks_per_second),
          'p50 ms': Number(record.p50_ms.toFixed(1)),
          'p95 ms': Number(record.p95_ms.toFixed(1)),
          'events/task': Number(record.events_per_task.toFixed(2)),
          'CPU ms/task': shown(record.cpu_ms_per_task),
          'Postgres ms/task': shown(record.postgres_cpu_ms_per_task),
          'NATS ms/task': shown(record.nats_cpu_ms_per_task),
          'WAL B/task': Math.round(record.wal_bytes_per_task),
        },
      ]),
    ),
  );
  for (const { node, postgres, nats } of records.slice(0, 1)) {
    console.log(`Node ${node}, Postgres ${postgres}, NATS ${nats}; every task's end was read back from the store.`);
  }
};

const shown = (ms: number | null): number | string => (ms === null ? '-' : Number(ms.toFixed(2)));

const costs = async (): Promise<readonly TelemetryCost[]> => {
  const options = { tasks: count(values.tasks), oneByOne: count(values['one-by-one']), rounds: count(values.rounds) };
  const all: TelemetryCost[] = [];
  for (const mode of values.mode.map(modeOf)) {
    const onProgress = (line: string): void => console.error(line);
    all.push(...(await telemetryCost({ mode, ...options, env: process.env, onProgress })));
  }
  return all;
};

const printCosts = (all: readonly TelemetryCost[]): void =>
  console.table(
    all.map(({ mode, telemetry: what, ...cost }) => ({
      services: mode,
      telemetry: what,
      'tasks/s': Math.round(cost.tasks_per_second),
      'p50 ms': Number(cost.p50_ms.toFixed(1)),
      'CPU ms/task': shown(cost.cpu_ms_per_task),
      'OTLP B/task': Math.round(cost.otlp_bytes_per_task),
    })),
  );

if (values.help) console.log(USAGE);
else if (values.telemetry) {
  const all = await costs();
  if (values.json) for (const cost of all) console.log(JSON.stringify(cost));
  else printCosts(all);
} else {
  const records: Record[] = [];
  for (const mode of values.mode.map(modeOf)) {
    const record = await measureMode(mode);
    records.push(record);
    if (values.json) console.log(JSON.stringify(record));
  }
  if (!values.json) print(records);
  await telemetry?.stop(10_000);
}
