import { createHash } from 'node:crypto';
import type { Artifacts } from '@fixpoint/event-store/artifacts';

/** Keeps everything in memory; for specs of this library only. */
export const memoryArtifacts = (): Artifacts & { readonly bytesOf: (hash: string | null) => Buffer } => {
  const stored = new Map<string, Buffer>();
  const bytesOf = (hash: string | null): Buffer => {
    const bytes = hash === null ? undefined : stored.get(hash);
    if (bytes === undefined) throw new Error(`no artifact ${hash}`);
    return bytes;
  };
  async function* read(bytes: Buffer): AsyncGenerator<Uint8Array> {
    yield bytes;
  }
  return {
    put: async (source) => {
      const chunks: Uint8Array[] = [];
      if (source instanceof Uint8Array) chunks.push(source);
      else for await (const chunk of source) chunks.push(Buffer.from(chunk));
      const bytes = Buffer.concat(chunks);
      const hash = createHash('sha256').update(bytes).digest('hex');
      stored.set(hash, bytes);
      return { hash, bytes: bytes.length };
    },
    get: async (hash) => (stored.has(hash) ? read(bytesOf(hash)) : null),
    bytesOf,
  };
};

/** Counts and forgets what it is given, chunk by chunk. */
export const forgetfulArtifacts = (): Artifacts => ({
  put: async (source) => {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of source instanceof Uint8Array ? [source] : source) {
      hash.update(chunk);
      bytes += chunk.length;
    }
    return { hash: hash.digest('hex'), bytes };
  },
  get: async () => null,
});
