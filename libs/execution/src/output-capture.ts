import { createHash } from 'node:crypto';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import type { Output } from './runner.ts';

const endBytes = 4096;
const keptBytes = 256 * 1024 * 1024;

const emptySha256 = createHash('sha256').digest('hex');

/** What a stream that printed nothing looks like. */
export const noOutput: Output = { hash: null, sha256: emptySha256, bytes: 0, head: '', tail: '', truncated: false };

/** Keeps both ends of a stream in constant memory. */
class Ends {
  bytes = 0;
  private head = Buffer.alloc(0);
  private readonly space = Buffer.alloc(endBytes);
  private tail = this.space.subarray(0, 0);

  add(chunk: Buffer): void {
    this.bytes += chunk.length;
    const missing = endBytes - this.head.length;
    if (missing > 0) this.head = Buffer.concat([this.head, chunk.subarray(0, missing)]);
    this.keepLast(chunk.subarray(Math.max(missing, 0)).subarray(-endBytes));
  }

  /** In place: a new buffer per chunk would be garbage of tens of megabytes in a long output. */
  private keepLast(rest: Buffer): void {
    const kept = Math.min(this.tail.length, endBytes - rest.length);
    this.space.copyWithin(0, this.tail.length - kept, this.tail.length);
    rest.copy(this.space, kept);
    this.tail = this.space.subarray(0, kept + rest.length);
  }

  text(): Pick<Output, 'head' | 'tail' | 'truncated'> {
    if (this.bytes > 2 * endBytes) {
      const head = this.head.subarray(0, wholeCharacters(this.head));
      const tail = this.tail.subarray(continuationBytes(this.tail));
      return { head: head.toString('utf8'), tail: tail.toString('utf8'), truncated: true };
    }
    const all = Buffer.concat([this.head, this.tail]);
    const cut = this.tail.length === 0 ? all.length : wholeCharacters(this.head);
    return { head: all.toString('utf8', 0, cut), tail: all.toString('utf8', cut), truncated: false };
  }
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Bytes a character has according to its first byte; 1 for what cannot be a first byte. */
const characterLength = (first: number): number => {
  if (first >= 0xf0 && first <= 0xf4) return 4;
  if (first >= 0xe0) return first < 0xf0 ? 3 : 1;
  return first >= 0xc2 ? 2 : 1;
};

/** Length without a last character that the cut would split; bytes that are no UTF-8 are left for U+FFFD. */
const wholeCharacters = (bytes: Buffer): number => {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back];
    if (byte === undefined || isContinuation(byte)) continue;
    return characterLength(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
};

const continuationBytes = (bytes: Buffer): number => {
  let count = 0;
  while (count < 3 && isContinuation(bytes[count])) count += 1;
  return count;
};

/**
 * Streams a process's output into an artifact. The store pulls: a slow store slows the process, nothing is queued.
 * @param source chunks as they come; a source that ends early by a kill is an end like any other.
 */
export const captureOutput = async (source: AsyncIterable<Buffer>, artifacts: Artifacts): Promise<Output> => {
  const ends = new Ends();
  const whole = createHash('sha256');

  async function* kept(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
    let chunk: Buffer | undefined = first;
    while (chunk !== undefined) {
      const room = keptBytes - ends.bytes;
      ends.add(chunk);
      whole.update(chunk);
      if (room > 0) yield chunk.subarray(0, room);
      chunk = await nextOf(rest);
    }
  }

  const chunks = source[Symbol.asyncIterator]();
  const first = await nextOf(chunks);
  if (first === undefined) return noOutput;
  const { hash } = await artifacts.put(kept(first, chunks));
  return { hash, sha256: whole.digest('hex'), bytes: ends.bytes, ...ends.text() };
};

const nextOf = async (chunks: AsyncIterator<Buffer>): Promise<Buffer | undefined> => {
  const next = await chunks.next();
  return next.done === true ? undefined : next.value;
};
