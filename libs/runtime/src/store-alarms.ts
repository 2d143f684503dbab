import { compareCursors } from '@fixpoint/contracts/envelope';
import type { ReaderPosition } from '@fixpoint/event-store/reader-positions';
import { holderText, type Watermark } from '@fixpoint/event-store/watermark';

/** What was found at one moment. */
export interface StoreMeasure {
  readonly watermark: Watermark;
  /** Of the readers that are watched. */
  readonly positions: readonly ReaderPosition[];
  /** On a monotonic clock, ms. */
  readonly atMs: number;
}

/** What is remembered from one measure to the next; all times are on the monotonic clock, ms. */
export interface StoreMemory {
  /** The transaction that held the watermark last, and since when it was seen to. */
  readonly holder: { readonly xid: string; readonly sinceMs: number } | null;
  /** Where each reader stood last, and since when it was seen there. */
  readonly readers: ReadonlyMap<string, { readonly position: ReaderPosition; readonly sinceMs: number }>;
}

/** Something that an operator must look at; its text is a sentence. */
export interface StoreAlarm {
  /** `watermark`, or the name of a reader. */
  readonly about: string;
  readonly text: string;
}

export const NO_MEMORY: StoreMemory = { holder: null, readers: new Map() };

/** Memory after a measure. */
export const remembered = (before: StoreMemory, { watermark, positions, atMs }: StoreMeasure): StoreMemory => {
  const { holder } = watermark;
  const sinceMs = holder !== null && holder.xid === before.holder?.xid ? before.holder.sinceMs : atMs;
  const readers = positions.map((position) => {
    const last = before.readers.get(position.name);
    const stands = last !== undefined && compareCursors(last.position.cursor, position.cursor) === 0;
    return [position.name, { position, sinceMs: stands ? last.sinceMs : atMs }] as const;
  });
  return { holder: holder === null ? null : { xid: holder.xid, sinceMs }, readers: new Map(readers) };
};

/**
 * How long, in ms, the watermark has stood still: the age of what it hides. With nothing hidden, the time for which one
 * transaction was seen to hold it: that is the age that an event would have by now if one had been appended.
 */
export const watermarkAgeMs = (memory: StoreMemory, { watermark, atMs }: StoreMeasure): number =>
  Math.max(watermark.ageMs, memory.holder === null ? 0 : atMs - memory.holder.sinceMs);

/**
 * @param memory after this measure.
 * @returns empty when all is well.
 */
export const storeAlarms = (memory: StoreMemory, measure: StoreMeasure, alarmMs: number): readonly StoreAlarm[] => {
  const readers = measure.positions.filter(({ name, lagMs }) => {
    const standsMs = measure.atMs - (memory.readers.get(name)?.sinceMs ?? measure.atMs);
    // One that is far behind but moves is catching up.
    return lagMs > alarmMs && standsMs > alarmMs;
  });
  return [
    ...(watermarkAgeMs(memory, measure) > alarmMs ? [watermarkAlarm(memory, measure)] : []),
    ...readers.map(readerAlarm),
  ];
};

const watermarkAlarm = (memory: StoreMemory, measure: StoreMeasure): StoreAlarm => {
  const { ageMs, holder } = measure.watermark;
  const what =
    ageMs > 0
      ? 'stored events are hidden from every reader'
      : 'whatever is stored next will be hidden from every reader';
  const who = holder === null ? 'a transaction that has just ended' : holderText(holder);
  return {
    about: 'watermark',
    text: `the watermark has stood still for ${seconds(watermarkAgeMs(memory, measure))}: ${what}, held by ${who}`,
  };
};

const readerAlarm = ({ name, lagMs, isKept }: ReaderPosition): StoreAlarm => ({
  about: name,
  text: `${name} does not move and is ${seconds(lagMs)} behind${isKept ? '' : '; no process keeps it'}`,
});

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
