import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { ownerDatabase } from '@fixpoint/event-store/owner-database';
import { PostgresEventStore } from '@fixpoint/event-store/postgres-event-store';
import { EMBEDDED_ROLE } from '@fixpoint/event-store/roles';
import { INSTALLED_PROJECTIONS } from '@fixpoint/local/installed-projections';
import { cpuTime, treeCpuTime } from './cpu-time.ts';
import { fillStore, lineageTemplate } from './fill-store.ts';
import { completeOne } from './measure.ts';
import { type MeasuredInstallation, type ServerPids, startMeasured } from './measured-installation.ts';
import { storedTasks } from './stored-tasks.ts';

const USAGE = `npm run bench:rebuild [-- --lineages 20000] [--rounds 3] [--json]
Events per second with which each projection is built anew, beside the live one of a running installation.`;

const { values } = parseArgs({
  options: {
    lineages: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '3' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

interface Measured {
  readonly projection: string;
  readonly round: number;
  readonly events: number;
  readonly seconds: number;
  readonly events_per_second: number;
  /** Processor time of this process and of Postgres, µs an event; null where it is not known. */
  readonly node_us_per_event: number | null;
  readonly postgres_us_per_event: number | null;
}

const PATIENCE_MS = 600_000;

const fill = async (installation: MeasuredInstallation, store: PostgresEventStore): Promise<void> => {
  const observed = await storedTasks(installation.postgresUrl);
  try {
    const root = await completeOne(installation.client, observed);
    const lineages = Number(values.lineages);
    const startedAt = performance.now();
    const template = await lineageTemplate(store, root);
    const events = await fillStore({ store, template, lineages, onProgress: () => undefined });
    const filledAt = performance.now();
    console.error(`${events} events appended in ${((filledAt - startedAt) / 1000).toFixed(1)} s`);
    await observed.quiet(PATIENCE_MS);
    console.error(`shown by the live projections ${((performance.now() - filledAt) / 1000).toFixed(1)} s later`);
  } finally {
    await observed.close();
  }
};

const usage = async ({ postgres }: ServerPids) => ({
  node: await cpuTime([process.pid]),
  postgres: postgres === null ? null : await treeCpuTime(postgres),
});

const perEvent = (before: number | null, after: number | null, events: number): number | null =>
  before === null || after === null ? null : ((after - before) * 1000) / events;

const rebuildAll = async (
  { postgresUrl: url, servers }: MeasuredInstallation,
  store: PostgresEventStore,
  round: number,
): Promise<readonly Measured[]> => {
  const db = await ownerDatabase<unknown>(url, 3);
  const measured: Measured[] = [];
  try {
    for (const { name, rebuild } of INSTALLED_PROJECTIONS) {
      const before = await usage(servers);
      const startedAt = performance.now();
      const { events } = await rebuild({ db, store, owner: randomUUID() });
      const seconds = (performance.now() - startedAt) / 1000;
      const after = await usage(servers);
      measured.push({
        ...{ projection: name, round, events, seconds, events_per_second: events / seconds },
        node_us_per_event: perEvent(before.node, after.node, events),
        postgres_us_per_event: perEvent(before.postgres, after.postgres, events),
      });
    }
    return measured;
  } finally {
    await db.destroy();
  }
};

const measureAll = async (): Promise<readonly Measured[]> => {
  const installation = await startMeasured('embedded', {
    path: process.env.PATH ?? '',
    dockerHost: process.env.DOCKER_HOST ?? null,
    telemetry: null,
    telemetryEnv: {},
    onProgress: (line) => console.error(line),
  });
  const url = installation.postgresUrl;
  const store = new PostgresEventStore({ url, role: EMBEDDED_ROLE, applicationName: 'fixpoint bench' });
  try {
    await fill(installation, store);
    const rounds: Measured[] = [];
    for (let round = 1; round <= Number(values.rounds); round += 1)
      rounds.push(...(await rebuildAll(installation, store, round)));
    return rounds;
  } finally {
    await store.close();
    await installation.close();
  }
};

if (values.help) console.log(USAGE);
else {
  const measured = await measureAll();
  if (values.json) for (const each of measured) console.log(JSON.stringify(each));
  else {
    console.table(
      measured.map(({ projection, round, events, seconds, ...each }) => ({
        ...{ projection, round, events, seconds: Number(seconds.toFixed(1)) },
        'events/s': Math.round(each.events_per_second),
        'Node µs/event': each.node_us_per_event?.toFixed(1) ?? '-',
        'Postgres µs/event': each.postgres_us_per_event?.toFixed(1) ?? '-',
      })),
    );
  }
}
