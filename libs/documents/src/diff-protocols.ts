import type { ProtocolSpec } from '@fixpoint/contracts/documents/protocol';
import type { Json } from '@fixpoint/contracts/json';

/** One field that two versions say differently. */
export interface ProtocolChange {
  /** Keys down to it; an item of a list by its id, where it has one. */
  readonly path: string;
  /** Null where that version does not say it. */
  readonly from: Json;
  readonly to: Json;
}

/** What changed from one version of a protocol to another, field by field, in the order of the fields' paths. */
export const diffProtocols = (from: ProtocolSpec, to: ProtocolSpec): ProtocolChange[] =>
  changesAt('', { name: from.name, modes: from.modes } as Json, { name: to.name, modes: to.modes } as Json).sort(
    (a, b) => (a.path < b.path ? -1 : 1),
  );

const changesAt = (path: string, from: Json | undefined, to: Json | undefined): ProtocolChange[] => {
  if (JSON.stringify(from) === JSON.stringify(to)) return [];
  const [before, after] = [fieldsOf(from), fieldsOf(to)];
  if (before === null || after === null) return [{ path, from: from ?? null, to: to ?? null }];
  const keys = [...new Set([...before.keys(), ...after.keys()])];
  const changes = keys.flatMap((key) =>
    changesAt(path === '' ? key : `${path}.${key}`, before.get(key), after.get(key)),
  );
  // The same items in another order: validators run one after the other, so that is a change, too.
  return changes.length > 0 ? changes : [{ path, from: [...before.keys()], to: [...after.keys()] }];
};

/** Fields by name, items by id; null for what is compared as a whole. */
const fieldsOf = (value: Json | undefined): ReadonlyMap<string, Json> | null => {
  if (value === null || value === undefined || typeof value !== 'object') return null;
  if (!Array.isArray(value)) return new Map(Object.entries(value));
  const items = value.map((item) => [idOf(item), item] as const);
  return items.every(([id]) => id !== null) ? new Map(items.map(([id, item]) => [id ?? '', item])) : null;
};

const idOf = (item: Json): string | null =>
  item !== null && typeof item === 'object' && !Array.isArray(item) && typeof item.id === 'string' ? item.id : null;
