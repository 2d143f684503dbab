import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '@fixpoint/contracts/clock';
import { type JetStreamBus, type JetStreamBusOptions, jetstreamBus } from '@fixpoint/messaging/jetstream-bus';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

/** A stream and subjects of its own on the run's NATS: spec files do not see each other's messages. */
export interface TestNats {
  readonly url: string;
  /** For `jetstreamBus` in another process. */
  readonly namespace: string;
  /** The bus of one more process, ready to use. Closed by `close`. */
  bus(options?: Partial<JetStreamBusOptions>): Promise<JetStreamBus>;
  /** Closes every bus and deletes the streams. */
  close(): Promise<void>;
}

const MAX_BYTES = 32 * 1024 * 1024;

/** @throws at `bus` when the run has no NATS. */
export const testNats = (): TestNats => {
  const url = serverUrl();
  const namespace = `test-${randomUUID()}`;
  const open: JetStreamBus[] = [];
  return {
    url,
    namespace,
    bus: async (options = {}) => {
      const bus = jetstreamBus({ ...plain(url, namespace), ...options });
      open.push(bus);
      await bus.ready(10_000);
      return bus;
    },
    close: async () => {
      await Promise.all(open.map((bus) => bus.close()));
      for (const stream of ['WORK', 'FEED']) await deleteStream(url, `${stream}_${namespace}`);
    },
  };
};

const serverUrl = (): string => {
  const url = process.env.NATS_URL;
  if (url === undefined || url === '') throw new Error('The tests need NATS: run them through jest, or set NATS_URL');
  return url;
};

const plain = (url: string, namespace: string): JetStreamBusOptions => ({
  url,
  namespace,
  name: 'test',
  maxBytes: MAX_BYTES,
  clock: realClock,
  report: (problem, cause) => process.stderr.write(`${problem}: ${cause}\n`),
  spread: () => false,
  load: ({ stream, version }) => Promise.reject(new Error(`This test has no store to load ${stream}@${version} from`)),
});

const realClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  sleep: async (ms, signal) => {
    await sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
  },
};

const deleteStream = async (url: string, stream: string): Promise<void> => {
  const connection = await connect({ servers: url, timeout: 5_000 });
  try {
    await (await jetstreamManager(connection)).streams.delete(stream);
  } catch (error) {
    // A test that never opened a bus has no stream.
    if (!(error instanceof Error && error.message === 'stream not found')) throw error;
  } finally {
    await connection.close();
  }
};
