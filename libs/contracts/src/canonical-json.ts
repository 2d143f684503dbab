/** A value that can not be stored and read back exactly. The edge answers 400 with the code. */
export class NotCanonical extends Error {
  override readonly name = 'NotCanonical';
  readonly code: 'integer_unsafe' | 'number_not_finite' | 'not_json';
  /** JSON pointer to the offending value. */
  readonly path: string;

  constructor(code: NotCanonical['code'], path: string) {
    super(`${code} at ${path === '' ? '/' : path}`);
    this.code = code;
    this.path = path;
  }
}

/**
 * The one JSON text of a value: keys sorted by UTF-16 code units, no spaces, strings as RFC 8785 writes them, except that
 * lone surrogates stay `\uXXXX` (RFC 8785 refuses them; output of tools contains them). Object members that are
 * `undefined` are left out. Equal values give equal bytes, so hashes may be taken over them.
 * @throws {NotCanonical} on integers beyond 2^53, NaN, infinities, and anything that is not JSON.
 */
export const canonicalJson = (value: unknown): string => {
  const text = write(value);
  if (text !== null) return text;
  throw complaint(value, '') ?? new NotCanonical('not_json', '');
};

/** Null when some part of the value has no canonical text; where that is, is looked for only then. */
const write = (value: unknown): string | null => {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number') return numberFault(value) === null ? JSON.stringify(value) : null;
  if (value === null || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return writeArray(value);
  return isPlainObject(value) ? writeObject(value) : null;
};

const writeArray = (items: readonly unknown[]): string | null => {
  let text = '[';
  for (let index = 0; index < items.length; index += 1) {
    const item = write(items[index]);
    if (item === null) return null;
    text += index === 0 ? item : `,${item}`;
  }
  return `${text}]`;
};

const writeObject = (value: Record<string, unknown>): string | null => {
  let text = '{';
  for (const key of sortedKeys(value)) {
    const member = value[key];
    if (member === undefined) continue;
    const item = write(member);
    if (item === null) return null;
    text += text.length === 1 ? `${quoted(key)}:${item}` : `,${quoted(key)}:${item}`;
  }
  return `${text}}`;
};

/** Most objects of one kind are made with their keys in one order; sorting them again costs more than looking. */
const sortedKeys = (value: Record<string, unknown>): readonly string[] => {
  const keys = Object.keys(value);
  for (let index = 1; index < keys.length; index += 1) {
    if ((keys[index - 1] ?? '') > (keys[index] ?? '')) return keys.sort();
  }
  return keys;
};

/** Characters that JSON writes as they are; every other string takes the long way. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

const quoted = (text: string): string => (text.length < 200 && PLAIN.test(text) ? `"${text}"` : JSON.stringify(text));

const numberFault = (value: number): NotCanonical['code'] | null => {
  if (!Number.isFinite(value)) return 'number_not_finite';
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? 'integer_unsafe' : null;
};

/** The first part, in the order of the text, that has none. */
const complaint = (value: unknown, path: string): NotCanonical | null => {
  if (typeof value === 'number') {
    const code = numberFault(value);
    return code === null ? null : new NotCanonical(code, path);
  }
  if (Array.isArray(value)) return firstOf(value.entries(), path);
  if (isPlainObject(value)) return firstOf(membersOf(value), path);
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return null;
  return new NotCanonical('not_json', path);
};

const membersOf = (value: Record<string, unknown>): Iterable<readonly [string, unknown]> =>
  sortedKeys(value).flatMap((key) => (value[key] === undefined ? [] : [[key, value[key]] as const]));

const firstOf = (members: Iterable<readonly [string | number, unknown]>, path: string): NotCanonical | null => {
  for (const [key, member] of members) {
    const found = complaint(member, `${path}/${key}`);
    if (found !== null) return found;
  }
  return null;
};

const isPlainObject = (value: unknown): value is Record<string, unknown> => {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};
