import { hash } from 'node:crypto';

/** Never changes: the number is stored in every row. */
const _SHARDS = 256;

/** The shard of a lineage, 0 to 255: the first byte of sha256 over the root's UTF-8. Fixed for ever. */
export const shardOf = (root: string): number => Number.parseInt(hash('sha256', root, 'hex').slice(0, 2), 16);
