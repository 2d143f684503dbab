/** A stored blob: content-addressed by the sha256 (lower-case hex) of its uncompressed bytes. */
export interface ArtifactRef {
  readonly hash: string;
  /** Uncompressed length in bytes. */
  readonly bytes: number;
}

/** Longest artifact, inclusive: 256 MiB. Whoever has more keeps head, tail, length and hash. */
export const ARTIFACT_BYTES_LIMIT = 256 * 1024 * 1024;

/** The source had more than {@link ARTIFACT_BYTES_LIMIT} bytes; nothing of it is kept. */
export class ArtifactTooLarge extends Error {
  override readonly name = 'ArtifactTooLarge';
}

/**
 * Prompts, outputs, diffs, bundles: what is too big for an event. The same bytes stored twice are stored once.
 * The memory and the Postgres adapter pass `artifacts.contract.ts`.
 */
export interface Artifacts {
  /**
   * Stores all bytes of the source. Nothing is visible under the hash until the last chunk is in. Constant memory.
   * A piece of the source may be overwritten once the next one is asked for: whoever keeps it copies it.
   * @throws {ArtifactTooLarge} and whatever the source throws; then nothing of it is kept.
   */
  put(source: AsyncIterable<Uint8Array> | Uint8Array): Promise<ArtifactRef>;
  /** @returns the bytes in chunks of at most 1 MiB, or null when no such artifact exists. Reading damaged bytes throws. */
  get(hash: string): Promise<AsyncIterable<Uint8Array> | null>;
}
