import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ARTIFACT_BYTES_LIMIT, type Artifacts, ArtifactTooLarge } from './artifacts.ts';

const MIB = 1024 * 1024;

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < bytes.length; offset += size) yield bytes.subarray(offset, offset + size);
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** All chunks of an artifact that was got. */
export const collect = async (chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> => {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all;
};

const read = async (artifacts: Artifacts, hash: string): Promise<Uint8Array[]> => {
  const stored = await artifacts.get(hash);
  if (stored === null) throw new Error(`no artifact ${hash}`);
  return collect(stored);
};

/** What every store of artifacts promises. */
export const artifactsContract = (
  name: string,
  open: () => Promise<{ artifacts: Artifacts; close(): Promise<void> }>,
): void => {
  describe(`${name} as a store of artifacts`, () => {
    let under: Awaited<ReturnType<typeof open>>;
    let artifacts: Artifacts;
    beforeAll(async () => {
      under = await open();
      artifacts = under.artifacts;
    });
    afterAll(() => under.close());

    test.each([
      ['nothing', 0],
      ['one byte', 1],
      ['a text', 5_000],
      ['one chunk less a byte', MIB - 1],
      ['exactly one chunk', MIB],
      ['one chunk and a byte', MIB + 1],
      ['several chunks', 3 * MIB + 17],
    ])('gives back %s as it was, whether it compresses or not', async (_name, length) => {
      for (const bytes of [randomBytes(length), Buffer.alloc(length, 'compressible ')]) {
        const ref = { hash: sha256(bytes), bytes: length };
        expect(await artifacts.put(bytes)).toEqual(ref);
        const chunks = await read(artifacts, ref.hash);
        expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
        expect(Math.max(0, ...chunks.map((chunk) => chunk.length))).toBeLessThanOrEqual(MIB);
      }
    });

    test('does not care how a stream is cut', async () => {
      const bytes = randomBytes(2 * MIB + 5);
      for (const size of [1_000, MIB - 1, MIB, 5 * MIB]) {
        expect(await artifacts.put(pieces(bytes, size))).toEqual({ hash: sha256(bytes), bytes: bytes.length });
      }
      expect(Buffer.concat(await read(artifacts, sha256(bytes))).equals(bytes)).toBe(true);
    });

    test('takes an empty stream', async () => {
      const { hash } = await artifacts.put(pieces(new Uint8Array(), 1));
      expect(await read(artifacts, hash)).toEqual([]);
    });

    test('the same bytes at the same time are one artifact', async () => {
      const bytes = randomBytes(MIB + 100);
      const refs = await Promise.all(Array.from({ length: 5 }, () => artifacts.put(bytes)));
      expect(new Set(refs.map(({ hash }) => hash))).toEqual(new Set([sha256(bytes)]));
      expect(Buffer.concat(await read(artifacts, sha256(bytes))).equals(bytes)).toBe(true);
    });

    test('knows nothing that was not stored', async () => {
      expect(await artifacts.get(sha256(randomBytes(8)))).toBeNull();
      expect(await artifacts.get('no hash at all')).toBeNull();
    });

    test('shows nothing of a stream that broke off', async () => {
      const bytes = randomBytes(2 * MIB);
      async function* broken(): AsyncGenerator<Uint8Array> {
        yield* pieces(bytes, MIB);
        throw new Error('pipe closed');
      }
      await expect(artifacts.put(broken())).rejects.toThrow('pipe closed');
      expect(await artifacts.get(sha256(bytes))).toBeNull();
    });

    test('shows nothing before the last chunk is in', async () => {
      const bytes = randomBytes(3 * MIB);
      const seen: unknown[] = [];
      async function* watched(): AsyncGenerator<Uint8Array> {
        for await (const piece of pieces(bytes, MIB)) {
          seen.push(await artifacts.get(sha256(bytes)));
          yield piece;
        }
      }
      await artifacts.put(watched());
      expect(seen).toEqual([null, null, null]);
    });

    test('refuses one byte more than 256 MiB', async () => {
      const piece = new Uint8Array(16 * MIB);
      async function* endless(): AsyncGenerator<Uint8Array> {
        for (let sent = 0; sent < ARTIFACT_BYTES_LIMIT; sent += piece.length) yield piece;
        yield new Uint8Array(1);
      }
      await expect(artifacts.put(endless())).rejects.toBeInstanceOf(ArtifactTooLarge);
    }, 60_000);
  });
};
