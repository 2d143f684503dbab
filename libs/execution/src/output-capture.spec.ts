import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { memoryArtifacts } from './artifacts.fixture.ts';
import { captureOutput } from './output-capture.ts';

async function* chunks(...parts: (string | Buffer)[]): AsyncGenerator<Buffer> {
  for (const part of parts) yield Buffer.from(part);
}

const capture = async (...parts: (string | Buffer)[]) => {
  const artifacts = memoryArtifacts();
  const output = await captureOutput(chunks(...parts), artifacts);
  return { ...output, stored: output.hash === null ? null : artifacts.bytesOf(output.hash) };
};

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

describe('a captured output', () => {
  test('of up to 8 KiB is shown whole', async () => {
    for (const length of [1, 4095, 4096, 4097, 8191, 8192]) {
      const text = 'abcdefg'.repeat(1200).slice(0, length);
      const output = await capture(text.slice(0, length / 2), text.slice(length / 2));
      expect(output).toMatchObject({ bytes: length, truncated: false });
      expect(output.head + output.tail).toBe(text);
      expect(output.stored?.toString()).toBe(text);
    }
  });

  test('over 8 KiB shows both ends and says that something lies between', async () => {
    const output = await capture('a'.repeat(4096), 'middle', 'z'.repeat(4096));
    expect(output).toMatchObject({ head: 'a'.repeat(4096), tail: 'z'.repeat(4096), truncated: true, bytes: 8198 });
  });

  test('is one text however it came in pieces', async () => {
    const bytes = Buffer.from('grün 🌱 日本\n'.repeat(30));
    const pieces = [...bytes].map((byte) => Buffer.from([byte]));
    expect((await capture(...pieces)).head).toBe(bytes.toString());
  });

  test('is never cut inside a character', async () => {
    for (const shift of [0, 1, 2, 3]) {
      const text = 'x'.repeat(shift) + '🌱'.repeat(5000);
      const { head, tail, truncated } = await capture(text);
      expect(truncated).toBe(true);
      expect([head, tail].join('')).not.toContain('\ufffd');
      expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
      const shortText = 'x'.repeat(shift) + '🌱'.repeat(1500);
      const short = await capture(shortText);
      expect(short.head + short.tail === shortText).toBe(true);
    }
  });

  test('E11: shows U+FFFD for what is no UTF-8, and keeps the bytes', async () => {
    const bytes = Buffer.from([0x61, 0xff, 0xe2, 0x82, 0x0a, 0xf0, 0x9f]);
    const output = await capture(bytes.subarray(0, 3), bytes.subarray(3));
    expect(output.head).toBe('a\ufffd\ufffd\n\ufffd');
    expect(output.stored).toEqual(bytes);
  });

  test('E1: keeps U+0000, and the hash is of the bytes', async () => {
    const output = await capture('a\0b');
    expect(output).toMatchObject({
      head: 'a\0b',
      sha256: sha256(Buffer.from('a\0b')),
      hash: sha256(Buffer.from('a\0b')),
    });
  });

  test('E3: keeps the six characters of an escaped U+0000 apart from the real one', async () => {
    const output = await capture('\\u0000');
    expect(output.head).toBe('\\u0000');
    expect(output.hash).not.toBe((await capture('\0')).hash);
  });

  test('beyond 256 MiB keeps the beginning, and ends, length and hash of the whole', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 'm');
    async function* flood(): AsyncGenerator<Buffer> {
      for (let i = 0; i < 257; i += 1) yield chunk;
      yield Buffer.from('the end');
    }
    let kept = 0;
    const put = async (source: AsyncIterable<Uint8Array> | Uint8Array) => {
      for await (const part of source instanceof Uint8Array ? [source] : source) kept += part.length;
      return { hash: 'kept', bytes: kept };
    };
    const output = await captureOutput(flood(), { put, get: async () => null });
    expect(kept).toBe(256 * 1024 * 1024);
    expect(output).toMatchObject({ hash: 'kept', bytes: 257 * 1024 * 1024 + 7, truncated: true });
    expect(output.tail.endsWith('mthe end')).toBe(true);
    expect(output.sha256).not.toBe('kept');
  });

  test('is taken no faster than the store takes it', async () => {
    let produced = 0;
    async function* source(): AsyncGenerator<Buffer> {
      for (; produced < 100; produced += 1) yield Buffer.alloc(10);
    }
    let aheadMost = 0;
    const put = async (given: AsyncIterable<Uint8Array> | Uint8Array) => {
      let taken = 0;
      for await (const part of given instanceof Uint8Array ? [given] : given) {
        taken += part.length / 10;
        aheadMost = Math.max(aheadMost, produced + 1 - taken);
      }
      return { hash: 'h', bytes: 1000 };
    };
    await captureOutput(source(), { put, get: async () => null });
    expect([produced, aheadMost]).toEqual([100, 0]);
  });
});
