import { LRUCache } from 'lru-cache';

/** What was made for a key, made once while it is kept; the longest unused of `limit` goes first. */
export const boundedCache = <Value extends object>(
  limit: number,
  make: (key: string) => Value,
): ((key: string) => Value) => {
  const made = new LRUCache<string, Value>({ max: limit });
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const value = make(key);
    made.set(key, value);
    return value;
  };
};
