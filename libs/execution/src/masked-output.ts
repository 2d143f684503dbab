/** What stands where a secret was. */
export const MASK = '***';

/**
 * The stream without the secret, wherever its chunks are cut. What may be the beginning of it is held back until more is
 * read, so memory is bounded by a chunk and the secret.
 * @param secret not empty.
 */
export async function* maskedOutput(source: AsyncIterable<Buffer>, secret: string): AsyncGenerator<Buffer> {
  const wanted = Buffer.from(secret);
  const mask = Buffer.from(MASK);
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    const { shown, rest } = without(Buffer.concat([held, chunk]), wanted, mask);
    held = rest;
    if (shown.length > 0) yield shown;
  }
  if (held.length > 0) yield held;
}

const without = (bytes: Buffer, wanted: Buffer, mask: Buffer): { shown: Buffer; rest: Buffer } => {
  const pieces: Buffer[] = [];
  let from = 0;
  for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, from)) {
    pieces.push(bytes.subarray(from, at), mask);
    from = at + wanted.length;
  }
  const begins = beginningIn(bytes.subarray(from), wanted) + from;
  pieces.push(bytes.subarray(from, begins));
  return { shown: Buffer.concat(pieces), rest: Buffer.from(bytes.subarray(begins)) };
};

/** Where the last bytes begin that the secret may begin with; the length when it does not. */
const beginningIn = (bytes: Buffer, wanted: Buffer): number => {
  const first = Math.max(0, bytes.length - wanted.length + 1);
  for (let at = bytes.indexOf(wanted[0] ?? 0, first); at >= 0; at = bytes.indexOf(wanted[0] ?? 0, at + 1)) {
    if (bytes.subarray(at).equals(wanted.subarray(0, bytes.length - at))) return at;
  }
  return bytes.length;
};
