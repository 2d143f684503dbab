import type { Cursor } from '../envelope.ts';

/** No more digits than `int4`, `xid8` and `int8` surely take. */
const FORM = /^(\d{1,9})\.(\d{1,19})\.(\d{1,18})$/;

/**
 * A place in the store's order as APIs hand it out: the answer to a write carries one, and a read that is given it as
 * `after` waits until it shows at least that much. Opaque to callers.
 */
export const cursorToken = (cursor: Cursor): string => `${cursor.epoch}.${cursor.xid}.${cursor.position}`;

/** @returns null for anything that {@link cursorToken} did not make. */
export const parseCursorToken = (token: string): Cursor | null => {
  const [, epoch, xid, position] = FORM.exec(token) ?? [];
  if (epoch === undefined || xid === undefined || position === undefined) return null;
  return { epoch: Number(epoch), xid, position };
};
