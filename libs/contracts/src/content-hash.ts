import { hash } from 'node:crypto';
import { canonicalJson } from './canonical-json.ts';

/** sha256, lower-case hex, of bytes or of text as UTF-8. */
export const sha256 = (bytes: Uint8Array | string): string => hash('sha256', bytes, 'hex');

/** sha256 over the canonical JSON of a value: equal values, equal hashes. */
export const contentHash = (value: unknown): string => sha256(canonicalJson(value));
