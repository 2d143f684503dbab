import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { readersOf, SPREAD_TYPES } from '@fixpoint/contracts/services';
import { PostgresArtifacts } from '@fixpoint/event-store/postgres-artifacts';
import { PostgresEventStore } from '@fixpoint/event-store/postgres-event-store';
import type { StoreRole } from '@fixpoint/event-store/roles';
import { ServerGuard, type StoreIdentity } from '@fixpoint/event-store/server-identity';
import { storePool } from '@fixpoint/event-store/store-pool';
import type { Offer } from '@fixpoint/messaging/bus';
import { jetstreamBus } from '@fixpoint/messaging/jetstream-bus';
import { memoryBus } from '@fixpoint/messaging/memory-bus';
import { z } from 'zod';
import type { Infrastructure } from './infrastructure.ts';
import { knownOffers } from './known-offers.ts';
import type { Log } from './log.ts';
import { type ConfigOf, setting } from './settings.ts';
import { systemClock } from './system-clock.ts';
import { systemIds } from './system-ids.ts';
import type { Telemetry } from './telemetry/telemetry.ts';

/** Where a process finds what it is built on. Spread them into the settings of a service. */
export const connectionSettings = {
  postgresUrl: setting('FIXPOINT_POSTGRES_URL', {
    schema: z.string().regex(/^postgres(ql)?:\/\//),
    unit: 'postgres:// URL',
    fallback: null,
    about: 'Database of the event store; its user is a member of the service roles.',
    secret: true,
  }),
  natsUrl: setting('FIXPOINT_NATS_URL', {
    schema: z.string().regex(/^(nats|tls):\/\//),
    unit: 'nats:// URL, several separated by commas',
    fallback: null,
    about: 'NATS with JetStream, server 2.9 or newer.',
    secret: true,
  }),
  namespace: setting('FIXPOINT_NAMESPACE', {
    schema: z.string().regex(/^[a-z0-9][a-z0-9-]{0,30}$/),
    unit: 'name',
    fallback: 'fixpoint',
    about: 'Prefix of subjects and part of the stream name; one per installation on a shared NATS.',
  }),
  busMaxBytes: setting('FIXPOINT_BUS_MAX_BYTES', {
    schema: z.coerce.number().int().min(1_048_576),
    unit: 'bytes',
    fallback: '1073741824',
    about: 'Most that each of the two streams of messages may take on disk; the oldest go first.',
  }),
  alarmAfterMs: setting('FIXPOINT_STORE_ALARM_MS', {
    schema: z.coerce.number().int().min(100).max(3_600_000),
    unit: 'ms',
    fallback: '10000',
    about: 'For how long the watermark of the store, or a reader of it, may stand still.',
  }),
};

export interface ConnectOptions {
  /** Name of the process, shown by Postgres and NATS. */
  readonly name: string;
  readonly role: StoreRole;
  readonly postgresUrl: string;
  /** Null: a bus inside this process, for all services in one. */
  readonly nats: {
    readonly url: string;
    readonly namespace: string;
    readonly maxBytes: number;
    /** All services are in this process: what is published here and read here needs no message. */
    readonly direct?: boolean;
  } | null;
  readonly log: Log;
  /** Null: none. */
  readonly telemetry: Telemetry | null;
  /** {@link Infrastructure.alarmAfterMs} */
  readonly alarmAfterMs?: number;
}

/** How long a start waits for Postgres before it gives up and says why; the supervisor then starts it anew. */
const PATIENCE_MS = 30_000;
const POOL_SIZE = 4;

/**
 * Connects one process to its store and its bus.
 * Postgres must answer within 30 s; NATS may come later, readers then wait for it. When a later connection leads to
 * another server or epoch of the store (failover, restore), an uncaught error ends the process.
 * @throws when Postgres is out of reach, not migrated, or restored from elsewhere; the message names the address.
 */
export const connect = async (options: ConnectOptions): Promise<Infrastructure> => {
  const guard = new ServerGuard(endProcess);
  const pooled = { url: options.postgresUrl, role: options.role, applicationName: `fixpoint ${options.name}`, guard };
  const store = new PostgresEventStore(pooled);
  const { epoch } = await usable(store);
  const pool = storePool(pooled, POOL_SIZE);
  const { bus: bare, feed, ingest } = busOf(options, store);
  const bus = knownOffers(bare, { store, epoch, log: options.log });
  const release = async (): Promise<void> => {
    await bus.close();
    await Promise.all([pool.end(), store.close()]);
  };
  const { log, telemetry, alarmAfterMs } = options;
  return {
    ...observed({ store, bus }, options),
    feed,
    ingest,
    artifacts: new PostgresArtifacts(pool),
    clock: systemClock,
    ids: systemIds,
    pool,
    log,
    telemetry,
    ...(alarmAfterMs === undefined ? {} : { alarmAfterMs }),
    release,
  };
};

const usable = async (store: PostgresEventStore): Promise<StoreIdentity> => {
  try {
    return await store.assertUsable(PATIENCE_MS);
  } catch (error) {
    await store.close();
    throw error;
  }
};

/** What this process remembers of the store may not be true any more: it ends, and its next start says why or goes on. */
const endProcess = (error: Error): void => {
  setImmediate(() => {
    throw error;
  });
};

/** Without telemetry everybody works with the bare adapters. */
const observed = (
  bare: Pick<Infrastructure, 'store' | 'bus'>,
  { telemetry, nats }: Pick<ConnectOptions, 'telemetry' | 'nats'>,
): Pick<Infrastructure, 'store' | 'bus'> =>
  telemetry === null
    ? bare
    : { store: telemetry.store(bare.store), bus: telemetry.bus(bare.bus, nats === null ? 'memory' : 'nats') };

const busOf = (
  { name, nats, log }: ConnectOptions,
  store: Pick<PostgresEventStore, 'readStream'>,
): Required<Pick<Infrastructure, 'bus' | 'feed' | 'ingest'>> => {
  const report = (message: string, detail?: unknown): void => log.warn({ detail }, message);
  if (nats === null) return { bus: memoryBus({ clock: systemClock, report }), feed: null, ingest: null };
  const bus = jetstreamBus({
    ...nats,
    direct: nats.direct === true ? readersOf : null,
    name: `fixpoint ${name}`,
    clock: systemClock,
    report,
    spread: isSpread,
    load: loadFrom(store),
  });
  return { bus, feed: bus.feed(), ingest: bus.ingest() };
};

/** Work in this process is over before a second message would have been taken; everything else of these types is long. */
const isSpread = ({ event }: Pick<Offer, 'event'>): boolean => {
  if (!(SPREAD_TYPES as readonly string[]).includes(event.type)) return false;
  return !(
    typeof event.data === 'object' &&
    event.data !== null &&
    'work' in event.data &&
    event.data.work === 'in_process'
  );
};

const loadFrom =
  (store: Pick<PostgresEventStore, 'readStream'>) =>
  async ({ stream, version }: { readonly stream: string; readonly version: number }): Promise<RecordedEvent> => {
    const [event] = await store.readStream(stream, version, version);
    if (event === undefined) throw new Error(`${stream} has no event ${version}`);
    return event;
  };

/** {@link ConnectOptions} from the configuration of a service process. */
export const connectOptions = (
  config: ConfigOf<typeof connectionSettings>,
  process: Pick<ConnectOptions, 'name' | 'role' | 'log' | 'telemetry'>,
): ConnectOptions => ({
  ...process,
  postgresUrl: config.postgresUrl,
  alarmAfterMs: config.alarmAfterMs,
  nats: { url: config.natsUrl, namespace: config.namespace, maxBytes: config.busMaxBytes },
});
