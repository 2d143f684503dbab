import {
  AckPolicy,
  type ConsumerConfig,
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  ReplayPolicy,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import type { WorkClass } from './bus.ts';

/** Names on the broker, derived from one namespace; `fixpoint` is production's. */
export interface Names {
  readonly stream: string;
  readonly everything: string;
  subject(type: string, workClass: WorkClass): string;
  /** All classes of a type. */
  anyClass(type: string): string;
}

/** Names of the feed on the broker. */
export interface FeedNames {
  readonly stream: string;
  readonly everything: string;
  /** `source` of its CloudEvents. */
  readonly source: string;
  subject(type: string): string;
}

/** @param namespace as of {@link namesIn}. */
export const feedNamesIn = (namespace: string): FeedNames => ({
  stream: namespace === 'fixpoint' ? 'FEED' : `FEED_${namespace}`,
  everything: `${namespace}.events.>`,
  source: `/${namespace}`,
  subject: (type) => `${namespace}.events.${type}`,
});

/** Names of what producers send to. */
export interface IngestNames {
  readonly stream: string;
  /** One token behind it: the project. */
  readonly everything: string;
  readonly durable: string;
}

/** @param namespace as of {@link namesIn}. */
export const ingestNamesIn = (namespace: string): IngestNames => ({
  stream: namespace === 'fixpoint' ? 'INGEST' : `INGEST_${namespace}`,
  everything: `${namespace}.ingest.*`,
  durable: 'orchestrator__ingest',
});

export const WORK_CLASSES: readonly WorkClass[] = ['normal', 'low'];

/**
 * @param namespace letters, digits, `_` and `-`: stream and consumer names take no dots.
 */
export const namesIn = (namespace: string): Names => {
  if (!/^[A-Za-z0-9_-]+$/.test(namespace)) throw new Error(`Not a bus namespace: ${namespace}`);
  return {
    stream: namespace === 'fixpoint' ? 'WORK' : `WORK_${namespace}`,
    everything: `${namespace}.work.>`,
    subject: (type, workClass) => `${namespace}.work.${type}.${workClass}`,
    anyClass: (type) => `${namespace}.work.${type}.*`,
  };
};

/** One consumer per reader, type and class: server 2.9 knows one filter per consumer. */
export const durableName = (reader: string, type: string, workClass: WorkClass): string =>
  `${reader}__${type}__${workClass}`;

/** How long the server waits for a sign of life of a delivered message before it offers it to another instance. */
export const ACK_WAIT_MS = 10_000;

/** Nobody relies on the server to know an id again, and all that it has to know are in its memory. */
const DUPLICATE_WINDOW_MS = 10_000;

const RETENTION_MS = 3 * 24 * 3_600_000;

/** Far above what may be in hand: a message that waits out a nak counts too, and at the limit all delivery stops. */
const MAX_ACK_PENDING = 50_000;

const STREAM_NAME_IN_USE = 10_058;
const CONSUMER_NAME_EXISTS = [10_013, 10_105, 10_148];

/**
 * Creates the stream or brings its limits up to date. Idempotent, from any number of processes at once.
 * Limits retention, because work-queue streams refuse a second reader of a type and delete slowly.
 */
export const ensureStream = async (
  manager: JetStreamManager,
  names: Pick<Names, 'stream' | 'everything'>,
  maxBytes: number,
): Promise<void> => {
  const limits: Partial<StreamConfig> = {
    subjects: [names.everything],
    max_age: nanos(RETENTION_MS),
    max_bytes: maxBytes,
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
    discard: DiscardPolicy.Old,
  };
  try {
    await manager.streams.add({
      name: names.stream,
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      ...limits,
    });
  } catch (error) {
    if (!isApiError(error, [STREAM_NAME_IN_USE])) throw error;
    await manager.streams.update(names.stream, limits);
  }
};

export interface WantedConsumer {
  readonly durable: string;
  readonly subject: string;
  readonly ackWaitMs: number;
  /** Where a consumer that is new begins; left out: with what comes from now on. */
  readonly from?: (typeof DeliverPolicy)['All' | 'New'];
}

/**
 * Creates the consumers or brings them up to date. One that has delivered what its stream does not have is made anew: the
 * stream's files were lost without the consumer's, and it would keep still until numbers have caught up with it.
 */
export const ensureConsumers = async (
  manager: JetStreamManager,
  stream: string,
  consumers: readonly WantedConsumer[],
): Promise<void> => {
  const delivered = await Promise.all(consumers.map((consumer) => ensureConsumer(manager, stream, consumer)));
  // Asked afterwards: meanwhile the stream can only have grown.
  const { state } = await manager.streams.info(stream);
  const ahead = consumers.filter((_, index) => (delivered[index] ?? 0) > state.last_seq);
  for (const consumer of ahead) {
    await deleteConsumer(manager, stream, consumer.durable);
    await ensureConsumer(manager, stream, consumer);
  }
};

/**
 * Without `backoff`, which would replace the ack wait, and without a delivery limit, after which the server would just
 * keep the message: counting and waiting are ours.
 * @returns the number of the last message that was delivered, or passed over.
 */
const ensureConsumer = async (manager: JetStreamManager, stream: string, consumer: WantedConsumer): Promise<number> => {
  const changeable: Partial<ConsumerConfig> = {
    ack_wait: nanos(consumer.ackWaitMs),
    max_deliver: -1,
    max_ack_pending: MAX_ACK_PENDING,
  };
  try {
    const { delivered } = await manager.consumers.add(stream, {
      durable_name: consumer.durable,
      filter_subject: consumer.subject,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: consumer.from ?? DeliverPolicy.New,
      replay_policy: ReplayPolicy.Instant,
      ...changeable,
    });
    return delivered.stream_seq;
  } catch (error) {
    if (!isApiError(error, CONSUMER_NAME_EXISTS)) throw error;
    const { delivered } = await manager.consumers.update(stream, consumer.durable, changeable);
    return delivered.stream_seq;
  }
};

const deleteConsumer = async (manager: JetStreamManager, stream: string, durable: string): Promise<void> => {
  try {
    await manager.consumers.delete(stream, durable);
  } catch (error) {
    // Another process was first.
    if (!isApiError(error, [JetStreamApiCodes.ConsumerNotFound])) throw error;
  }
};

/**
 * True when the server says that the stream's files are gone: somebody removed them, or the stream was created while its
 * predecessor's were still being deleted. It does not recover by itself, and holds nothing that the store does not have.
 */
export const isStreamBroken = (error: unknown): boolean =>
  error instanceof JetStreamApiError && error.message.includes('no such file');

/** Removes a broken stream, so that `ensureStream` makes a sound one. */
export const deleteStream = async (manager: JetStreamManager, stream: string): Promise<void> => {
  try {
    await manager.streams.delete(stream);
  } catch (error) {
    // Another process was first.
    if (!isApiError(error, [JetStreamApiCodes.StreamNotFound])) throw error;
  }
};

const isApiError = (error: unknown, codes: readonly number[]): boolean =>
  error instanceof JetStreamApiError && codes.includes(error.code);
