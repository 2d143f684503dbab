import { createHash, hash as hashOf, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import type { Pool } from 'pg';
import { CHUNK_BYTES, inChunks } from './artifact-chunks.ts';
import type { ArtifactRef, Artifacts } from './artifacts.ts';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

interface Encoded {
  readonly encoding: 'identity' | 'zstd';
  readonly body: Buffer;
}

/** Below this a compressed frame gains nothing. */
const WORTH_COMPRESSING = 128;

const encode = async (chunk: Buffer): Promise<Encoded> => {
  if (chunk.length < WORTH_COMPRESSING) return { encoding: 'identity', body: chunk };
  const body = await compress(chunk);
  return body.length < chunk.length ? { encoding: 'zstd', body } : { encoding: 'identity', body: chunk };
};

const PUT_SMALL = `
with won as (
  insert into store.artifact (hash, bytes, upload) values ($1, $2, $3) on conflict do nothing returning upload
)
insert into store.artifact_chunk (upload, index, encoding, body) select upload, 0, $4, $5 from won`;

const PUT_CHUNK = 'insert into store.artifact_chunk (upload, index, encoding, body) values ($1, $2, $3, $4)';
const PUT_ARTIFACT = 'insert into store.artifact (hash, bytes, upload) values ($1, $2, $3) on conflict do nothing';
const FORGET_UPLOAD = 'delete from store.artifact_chunk where upload = $1';

/**
 * Artifacts in Postgres. Every chunk is a transaction of its own: one long writing transaction would hold back every
 * reader of the log. Chunks of an upload that no artifact names are invisible, and removed in time.
 */
export class PostgresArtifacts implements Artifacts {
  private readonly pool: Pool;

  /** @param pool connects as a role that may write artifacts; not closed here. */
  constructor(pool: Pool) {
    this.pool = pool;
  }

  async put(source: AsyncIterable<Uint8Array> | Uint8Array): Promise<ArtifactRef> {
    if (source instanceof Uint8Array && source.length <= CHUNK_BYTES) return this.putSmall(Buffer.from(source));
    const chunks = inChunks(source);
    const first = await chunks.next();
    if (first.done === true) return this.putSmall(Buffer.alloc(0));
    const second = await chunks.next();
    return second.done === true ? this.putSmall(first.value) : this.putLarge([first.value, second.value], chunks);
  }

  async get(hash: string): Promise<AsyncIterable<Uint8Array> | null> {
    const { rows } = await this.pool.query<{ upload: string; bytes: string }>({
      name: 'artifact',
      text: 'select upload, bytes from store.artifact where hash = $1',
      values: [Buffer.from(hash, 'hex')],
    });
    const [row] = rows;
    return row === undefined ? null : this.read(hash, row.upload, Number(row.bytes));
  }

  /**
   * Removes what crashed or refused uploads left behind.
   * @param olderThanMs longer than any upload takes; by the database's clock.
   * @returns the number of chunks removed.
   */
  async removeUnfinished(olderThanMs: number): Promise<number> {
    const { rowCount } = await this.pool.query(
      `delete from store.artifact_chunk c where created_at < now() - $1 * interval '1 millisecond'
       and not exists (select from store.artifact a where a.upload = c.upload)`,
      [olderThanMs],
    );
    return rowCount ?? 0;
  }

  /** At most one chunk: one statement, and nothing at all is sent twice to disk. */
  private async putSmall(chunk: Buffer): Promise<ArtifactRef> {
    const hash = hashOf('sha256', chunk, 'hex');
    const { encoding, body } = await encode(chunk);
    const values = [Buffer.from(hash, 'hex'), chunk.length, randomUUID(), encoding, body];
    await this.pool.query({ name: 'put_artifact', text: PUT_SMALL, values });
    return { hash, bytes: chunk.length };
  }

  private async putLarge(first: readonly Buffer[], rest: AsyncIterable<Buffer>): Promise<ArtifactRef> {
    const upload = randomUUID();
    try {
      return await this.upload(upload, first, rest);
    } catch (error) {
      // Best effort: what cannot be removed now is removed by `removeUnfinished`.
      await this.pool.query(FORGET_UPLOAD, [upload]).catch(() => undefined);
      throw error;
    }
  }

  private async upload(upload: string, first: readonly Buffer[], rest: AsyncIterable<Buffer>): Promise<ArtifactRef> {
    const digest = createHash('sha256');
    let bytes = 0;
    let index = 0;
    const send = async (chunk: Buffer): Promise<void> => {
      digest.update(chunk);
      bytes += chunk.length;
      const { encoding, body } = await encode(chunk);
      await this.pool.query({ name: 'put_chunk', text: PUT_CHUNK, values: [upload, index, encoding, body] });
      index += 1;
    };
    for (const chunk of first) await send(chunk);
    for await (const chunk of rest) await send(chunk);
    const hash = digest.digest('hex');
    const { rowCount } = await this.pool.query(PUT_ARTIFACT, [Buffer.from(hash, 'hex'), bytes, upload]);
    if (rowCount === 0) await this.pool.query(FORGET_UPLOAD, [upload]);
    return { hash, bytes };
  }

  private async *read(hash: string, upload: string, bytes: number): AsyncGenerator<Uint8Array> {
    const digest = createHash('sha256');
    for (let index = 0; index * CHUNK_BYTES < bytes; index += 1) {
      const { rows } = await this.pool.query<Encoded>({
        name: 'artifact_chunk',
        text: 'select encoding, body from store.artifact_chunk where upload = $1 and index = $2',
        values: [upload, index],
      });
      const [row] = rows;
      if (row === undefined) throw new Error(`artifact ${hash} is damaged: chunk ${index} is missing`);
      const chunk = row.encoding === 'zstd' ? await decompress(row.body) : row.body;
      digest.update(chunk);
      yield chunk;
    }
    if (digest.digest('hex') !== hash) throw new Error(`artifact ${hash} is damaged: its bytes have another hash`);
  }
}
