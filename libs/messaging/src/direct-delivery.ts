import type { Offer, Publication, Reader } from './bus.ts';

/** A reader of this process, as direct delivery sees it. */
export interface DirectReader {
  /** @param ahead offers that it will be given in this turn of the event loop before this one. */
  hasRoomFor(offer: Offer, ahead: number): boolean;
  take(publication: Publication): void;
}

/**
 * Hands what a process publishes to the readers that live in it. That is the whole delivery, so every reader of the
 * event's type has to be here and have room; else the event travels as a message. A process that dies with such events
 * in hand loses wake-ups, not events: the healer offers them again.
 */
export class DirectDelivery {
  readonly #readers = new Map<string, Set<DirectReader>>();
  readonly #readersOf: (type: string) => readonly string[];
  readonly #onDelivered: () => void;
  /** What each reader gets at the end of this turn. */
  #waiting = new Map<DirectReader, Publication[]>();

  /**
   * @param readersOf names of all readers that get events of a type, here and elsewhere; none when it has to be a message.
   * @param onDelivered called once for everything that was delivered in one turn of the event loop.
   */
  constructor(readersOf: (type: string) => readonly string[], onDelivered: () => void) {
    this.#readersOf = readersOf;
    this.#onDelivered = onDelivered;
  }

  add({ name }: Pick<Reader, 'name'>, reader: DirectReader): void {
    const known = this.#readers.get(name);
    if (known === undefined) this.#readers.set(name, new Set([reader]));
    else known.add(reader);
  }

  /** What was delivered to it is given to it now: it knows whom else to ask, and no message stands for it. */
  remove({ name }: Pick<Reader, 'name'>, reader: DirectReader): void {
    this.#readers.get(name)?.delete(reader);
    const waiting = this.#waiting.get(reader) ?? [];
    this.#waiting.delete(reader);
    for (const publication of waiting) reader.take(publication);
  }

  /** @returns false when the event has to travel as a message; what is meant for one reader always has. */
  deliver(publication: Publication): boolean {
    const { offer, only } = publication;
    if (only !== undefined) return false;
    const readers = this.#readersOf(offer.event.type).map((name) => this.#withRoom(name, offer));
    if (readers.length === 0 || !readers.every((reader) => reader !== undefined)) return false;
    if (this.#waiting.size === 0) setImmediate(() => this.#flush());
    for (const reader of readers) {
      const waiting = this.#waiting.get(reader);
      if (waiting === undefined) this.#waiting.set(reader, [publication]);
      else waiting.push(publication);
    }
    return true;
  }

  #withRoom(name: string, offer: Offer): DirectReader | undefined {
    return this.#readers
      .get(name)
      ?.values()
      .find((reader) => reader.hasRoomFor(offer, this.#waiting.get(reader)?.length ?? 0));
  }

  /** Together, so that a reader of batches finds what one group commit stored as one batch. */
  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = new Map();
    for (const [reader, publications] of waiting) {
      for (const publication of publications) reader.take(publication);
    }
    this.#onDelivered();
  }
}
