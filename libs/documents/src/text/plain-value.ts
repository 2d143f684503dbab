import type { DiagnosticCode } from '../diagnostics.ts';

/** A value of the document that JSON can not hold exactly. */
export class ValueRefused extends Error {
  override readonly name = 'ValueRefused';
  readonly code: DiagnosticCode;
  readonly path: readonly (string | number)[];

  constructor(code: DiagnosticCode, path: readonly (string | number)[], message: string) {
    super(message);
    this.code = code;
    this.path = path;
  }
}

interface Walk {
  readonly maxDepth: number;
  path: (string | number)[];
}

/**
 * The value as plain JSON: maps as objects, whole numbers as numbers, aliases as copies.
 * @throws {ValueRefused} with the place of what can not be kept.
 */
export const plainValue = (value: unknown, maxDepth: number): unknown => plain(value, { maxDepth, path: [] });

const plain = (value: unknown, walk: Walk): unknown => {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint' || typeof value === 'number') return plainNumber(value, walk);
  // Only an alias to something around it gets here: honest depth is bounded while reading.
  if (walk.path.length >= walk.maxDepth) throw new ValueRefused('FX006', [...walk.path], 'An alias contains itself.');
  if (Array.isArray(value)) return value.map((item, index) => inside(index, item, walk));
  if (value instanceof Map) return plainObject(value, walk);
  throw new ValueRefused('FX008', [...walk.path], 'A value of a kind that JSON does not have.');
};

const inside = (step: string | number, value: unknown, walk: Walk): unknown => {
  walk.path.push(step);
  const result = plain(value, walk);
  walk.path.pop();
  return result;
};

const plainNumber = (value: number | bigint, walk: Walk): number => {
  const number = Number(value);
  if (!Number.isFinite(number)) throw new ValueRefused('FX004', [...walk.path], 'The number is not finite.');
  if (Number.isInteger(number) && !Number.isSafeInteger(number)) {
    throw new ValueRefused('FX004', [...walk.path], 'The integer is beyond 2^53 and can not be kept exactly.');
  }
  return number;
};

const plainObject = (map: Map<unknown, unknown>, walk: Walk): Record<string, unknown> => {
  const entries: [string, unknown][] = [];
  for (const [key, value] of map) entries.push([keyText(key, walk), inside(String(key), value, walk)]);
  // `fromEntries` defines own members, so a key `__proto__` is data like any other.
  return Object.fromEntries(entries);
};

const keyText = (key: unknown, walk: Walk): string => {
  if (typeof key === 'string') return key;
  if (typeof key === 'bigint' || typeof key === 'boolean') return String(key);
  throw new ValueRefused('FX008', [...walk.path], 'A key must be text.');
};
