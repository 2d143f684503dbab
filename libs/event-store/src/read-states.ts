import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { type Decider, fold } from '@fixpoint/decider/decider';
import type { EventStore } from './event-store.ts';
import { SNAPSHOT_EVERY, type Snapshot, type Snapshots } from './snapshots.ts';
import type { CachedState } from './state-cache.ts';

/** A stream that can't be folded, with what went wrong. */
export interface Unfoldable {
  readonly unfoldable: unknown;
}

export interface ReadingStates<Command, Event, State> {
  readonly store: Pick<EventStore, 'readStream' | 'readStreams'>;
  readonly decider: Decider<Command, Event, State>;
  readonly snapshots?: Snapshots<State> | undefined;
}

/**
 * Folds streams. Most are short and are read in one statement; of a long one only what came after its snapshot is read. A
 * snapshot is used when the stream has the very event that it was made at, and is never more than a shorter way to the
 * same state.
 */
export const readStates = async <Command, Event, State>(
  reading: ReadingStates<Command, Event, State>,
  streams: readonly string[],
): Promise<ReadonlyMap<string, CachedState<State> | Unfoldable>> => {
  if (streams.length === 0) return new Map();
  const { store, snapshots } = reading;
  if (snapshots === undefined) {
    const whole = await store.readStreams(streams);
    return new Map([...whole].map(([stream, events]) => [stream, folded(reading, start(reading), events)]));
  }
  const heads = await store.readStreams(streams, SNAPSHOT_EVERY);
  const long = [...heads].filter(([, head]) => head.length >= SNAPSHOT_EVERY).map(([stream]) => stream);
  const saved = long.length === 0 ? new Map<string, Snapshot<State>>() : await snapshots.load(long);
  const states = [...heads].map(async ([stream, head]) => {
    const state = await stateOf(reading, { stream, head, snapshot: saved.get(stream) });
    return [stream, state] as const;
  });
  return new Map(await Promise.all(states));
};

interface Known<State> {
  readonly stream: string;
  /** Its first events: all of them when there are fewer than asked for. */
  readonly head: readonly RecordedEvent[];
  readonly snapshot: Snapshot<State> | undefined;
}

const stateOf = async <Command, Event, State>(
  reading: ReadingStates<Command, Event, State>,
  { stream, head, snapshot }: Known<State>,
): Promise<CachedState<State> | Unfoldable> => {
  const { store } = reading;
  if (head.length < SNAPSHOT_EVERY) return folded(reading, start(reading), head);
  const short = snapshot && (await fromSnapshot(reading, stream, snapshot));
  if (short) return short;
  const rest = await store.readStream(stream, head.length + 1);
  return folded(reading, start(reading), [...head, ...rest]);
};

/** Null when the snapshot is not of this stream, or can't be gone on from. */
const fromSnapshot = async <Command, Event, State>(
  reading: ReadingStates<Command, Event, State>,
  stream: string,
  snapshot: Snapshot<State>,
): Promise<CachedState<State> | null> => {
  const [at, ...newer] = await reading.store.readStream(stream, snapshot.version);
  if (at?.version !== snapshot.version || at.hash !== snapshot.eventHash) return null;
  const state = folded(reading, snapshot, newer);
  return 'unfoldable' in state ? null : state;
};

const start = <State>({ decider }: { readonly decider: { readonly initial: State } }): CachedState<State> => ({
  state: decider.initial,
  version: 0,
});

// The one place where stored events become the decider's: evolve is total, so types it does not know are harmless.
// Not so a known type with other data, as a newer release may have written it.
const folded = <Command, Event, State>(
  { decider }: Pick<ReadingStates<Command, Event, State>, 'decider'>,
  { state, version }: CachedState<State>,
  events: readonly RecordedEvent[],
): CachedState<State> | Unfoldable => {
  try {
    const after = fold(decider, state, events as unknown as readonly Event[]);
    return { state: after, version: events.at(-1)?.version ?? version };
  } catch (unfoldable) {
    return { unfoldable };
  }
};
