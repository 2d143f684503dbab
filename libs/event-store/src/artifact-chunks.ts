import { ARTIFACT_BYTES_LIMIT, ArtifactTooLarge } from './artifacts.ts';

export const CHUNK_BYTES = 1024 * 1024;

async function* bounded(source: AsyncIterable<Uint8Array> | Uint8Array): AsyncGenerator<Uint8Array> {
  let total = 0;
  for await (const piece of source instanceof Uint8Array ? [source] : source) {
    total += piece.length;
    if (total > ARTIFACT_BYTES_LIMIT) throw new ArtifactTooLarge(`more than ${ARTIFACT_BYTES_LIMIT} bytes`);
    yield piece;
  }
}

/**
 * The source's bytes in chunks of exactly 1 MiB, the last one shorter. Empty for an empty source. Two buffers take turns,
 * because a new one for each would be garbage faster than it is collected: a chunk holds until the one after the next is
 * asked for.
 * @throws {ArtifactTooLarge} at the first byte beyond the limit.
 */
export async function* inChunks(source: AsyncIterable<Uint8Array> | Uint8Array): AsyncGenerator<Buffer> {
  let chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let other: typeof chunk | null = null;
  let filled = 0;
  for await (const piece of bounded(source)) {
    for (let offset = 0; offset < piece.length; ) {
      const part = piece.subarray(offset, offset + CHUNK_BYTES - filled);
      chunk.set(part, filled);
      filled += part.length;
      offset += part.length;
      if (filled < CHUNK_BYTES) continue;
      yield chunk;
      const next: typeof chunk = other ?? Buffer.allocUnsafe(CHUNK_BYTES);
      other = chunk;
      chunk = next;
      filled = 0;
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled);
}
