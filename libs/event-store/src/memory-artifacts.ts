import { createHash } from 'node:crypto';
import { inChunks } from './artifact-chunks.ts';
import type { ArtifactRef, Artifacts } from './artifacts.ts';

/** Keeps artifacts in this process, for tests and the simulator. */
export const memoryArtifacts = (): Artifacts => {
  const stored = new Map<string, readonly Buffer[]>();
  const put = async (source: AsyncIterable<Uint8Array> | Uint8Array): Promise<ArtifactRef> => {
    const digest = createHash('sha256');
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of inChunks(source)) {
      digest.update(chunk);
      chunks.push(Buffer.from(chunk));
      bytes += chunk.length;
    }
    const hash = digest.digest('hex');
    stored.set(hash, chunks);
    return { hash, bytes };
  };
  async function* read(chunks: readonly Buffer[]): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) yield Uint8Array.from(chunk);
  }
  const get = (hash: string): Promise<AsyncIterable<Uint8Array> | null> => {
    const chunks = stored.get(hash);
    return Promise.resolve(chunks === undefined ? null : read(chunks));
  };
  return { put, get };
};
