import { parseArgs } from 'node:util';
import { PostgresEventStore } from '@fixpoint/event-store/postgres-event-store';
import { EMBEDDED_ROLE } from '@fixpoint/event-store/roles';
import { fillStore, lineageTemplate } from './fill-store.ts';
import { completeOne, type Measurement, measure } from './measure.ts';
import { type MeasuredInstallation, startMeasured } from './measured-installation.ts';
import { type StoredTasks, storedTasks } from './stored-tasks.ts';

const USAGE = `npm run bench:stored [-- --stored 100000] [--tasks 2000] [--one-by-one 50] [--json]
What a task costs in an empty store, and in the same store with many ended lineages in it.`;

const { values } = parseArgs({
  options: {
    stored: { type: 'string', default: '100000' },
    tasks: { type: 'string', default: '2000' },
    'one-by-one': { type: 'string', default: '50' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const PATIENCE_MS = 1_800_000;

/** Ended lineages like one that just ran, appended in bulk; resolves when every projection shows them. */
const fill = async (installation: MeasuredInstallation, observed: StoredTasks): Promise<void> => {
  const url = installation.postgresUrl;
  const store = new PostgresEventStore({ url, role: EMBEDDED_ROLE, applicationName: 'fixpoint bench' });
  const startedAt = performance.now();
  try {
    const template = await lineageTemplate(store, await completeOne(installation.client, observed));
    const lineages = Number(values.stored);
    const events = await fillStore({ store, template, lineages, onProgress: () => undefined });
    console.error(`${lineages} lineages, ${events} events: ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
    await observed.quiet(PATIENCE_MS);
    console.error(`shown by all projections: ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
    await observed.settle(PATIENCE_MS);
  } finally {
    await store.close();
  }
};

interface Measured extends Measurement {
  /** Lineages that were there before. */
  readonly stored: number;
}

const measureBoth = async (): Promise<readonly [Measured, Measured]> => {
  const installation = await startMeasured('embedded', {
    path: process.env.PATH ?? '',
    dockerHost: process.env.DOCKER_HOST ?? null,
    telemetry: null,
    telemetryEnv: {},
    onProgress: (line) => console.error(line),
  });
  try {
    const observed = await storedTasks(installation.postgresUrl);
    try {
      const options = { tasks: Number(values.tasks), oneByOne: Number(values['one-by-one']) };
      const empty = { stored: 0, ...(await measure(installation, observed, options)) };
      await fill(installation, observed);
      return [empty, { stored: Number(values.stored), ...(await measure(installation, observed, options)) }];
    } finally {
      await observed.close();
    }
  } finally {
    await installation.close();
  }
};

/** Processor time of everything together, ms a task; null where it is not known. */
const costOf = ({ cpu_ms_per_task: services, postgres_cpu_ms_per_task: postgres }: Measurement): number | null =>
  services === null || postgres === null ? null : services + postgres;

const growth = (before: number | null, after: number | null): string =>
  before === null || after === null ? '-' : `${(100 * (after / before - 1)).toFixed(0)} %`;

const row = (measured: Measured) => ({
  'stored lineages': measured.stored,
  'tasks/s': Math.round(measured.tasks_per_second),
  'p50 ms': Number(measured.p50_ms.toFixed(1)),
  'services ms/task': measured.cpu_ms_per_task?.toFixed(3) ?? '-',
  'Postgres ms/task': measured.postgres_cpu_ms_per_task?.toFixed(3) ?? '-',
  'WAL B/task': Math.round(measured.wal_bytes_per_task),
});

if (values.help) console.log(USAGE);
else {
  const [empty, full] = await measureBoth();
  if (values.json) for (const each of [empty, full]) console.log(JSON.stringify(each));
  else {
    console.table([row(empty), row(full)]);
    console.log(`CPU per task ${growth(costOf(empty), costOf(full))}, p50 ${growth(empty.p50_ms, full.p50_ms)}`);
  }
}
