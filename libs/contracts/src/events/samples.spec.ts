import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { canonicalJson } from '../canonical-json.ts';
import { metadataSchema, type RecordedEvent } from '../envelope.ts';
import { definitionOf, eventCatalogue, eventOwners } from './catalogue.ts';
import { currentEvent } from './current-event.ts';
import { parseEvent, readEvent, UnreadableEvent } from './parse-event.ts';

const folder = new URL('../../samples/', import.meta.url);
const files = readdirSync(folder);
const sample = (file: string): RecordedEvent => JSON.parse(readFileSync(new URL(file, folder), 'utf8'));

/** The code of what a call throws. */
const codeOf = (call: () => unknown): string => {
  try {
    call();
  } catch (error) {
    if (error instanceof UnreadableEvent) return error.code;
    throw error;
  }
  return 'readable';
};

describe('stored samples: the history that must stay readable', () => {
  /** `TYPE.vN.json`, and beside it `TYPE.vN.WHAT.json` for what only some events of a type say. */
  const kindOf = (file: string): string => file.replace(/\.[a-z-]+\.json$/, '.json');

  test('every version of every event type has one, and none is left over', () => {
    const kinds = [...new Set(files.map(kindOf))].sort();
    const versions = eventCatalogue.flatMap(({ type, version }) =>
      Array.from({ length: version }, (_, before) => `${type}.v${before + 1}.json`),
    );
    expect(kinds).toEqual(versions.sort());
  });

  test('every version but the newest has a step to the next', () => {
    for (const { type, version, ...definition } of eventCatalogue) {
      const upcasts = 'upcasts' in definition && Array.isArray(definition.upcasts) ? definition.upcasts : [];
      expect([type, upcasts.length]).toEqual([type, version - 1]);
    }
  });

  test.each(files)('%s is read as it was written', (file) => {
    const event = sample(file);
    expect(parseEvent(event).data).toEqual(currentEvent(event).data);
    expect(metadataSchema.parse(event.metadata)).toEqual(event.metadata);
    expect(JSON.parse(canonicalJson(event))).toEqual(event);
  });

  test.each(files)('%s with a field of its data missing is not', (file) => {
    const event = sample(file);
    for (const key of Object.keys(event.data as object)) {
      const data = { ...(event.data as object), [key]: undefined };
      expect([key, codeOf(() => parseEvent({ ...event, data }))]).toEqual([key, 'event_data_invalid']);
    }
  });
});

describe('an event that this build can not read', () => {
  const event = sample('run_refused.v1.json');

  test.each([
    ['of an unknown type', { ...event, type: 'unheard_of' }, 'event_type_unknown'],
    ['of a type that is a name of Object', { ...event, type: 'constructor' }, 'event_type_unknown'],
    ['of a newer version', { ...event, schema_version: 2 }, 'event_version_unknown'],
    ['with other data', { ...event, data: { run: 'x' } }, 'event_data_invalid'],
    ['without data', { ...event, data: null }, 'event_data_invalid'],
  ])('%s is named as such', (_, unreadable, code) => {
    expect(codeOf(() => parseEvent(unreadable))).toBe(code);
  });

  test('of another type than expected is refused', () => {
    expect(codeOf(() => readEvent(event, 'node_ready'))).toBe('event_type_unknown');
    expect(readEvent(event, 'run_refused').reason).toBe('token_expired');
  });

  test('is named with type, version and id, and never with its data', () => {
    expect(() => parseEvent({ ...event, data: { token: 'secret' } })).toThrow(`run_refused v1 (${event.id})`);
    expect(() => parseEvent({ ...event, data: { token: 'secret' } })).not.toThrow('secret');
  });
});

describe('owners', () => {
  test('every type has one service that may write it; dead letters have all', () => {
    for (const { type, owners } of eventCatalogue) {
      expect([type, owners.length]).toEqual([type, type === 'dead_lettered' ? 5 : 1]);
    }
  });

  test('the policy of the store names each pair once', () => {
    const pairs = eventOwners().map(({ type, owner }) => `${type} ${owner}`);
    expect(new Set(pairs).size).toBe(pairs.length);
    expect(pairs).toContain('node_ready orchestrator');
    expect(pairs).toContain('dead_lettered auditor');
    expect(pairs).not.toContain('node_ready executor');
  });

  test('no type is defined twice', () => {
    expect(new Set(eventCatalogue.map(({ type }) => type)).size).toBe(eventCatalogue.length);
    expect(definitionOf('node_ready')?.type).toBe('node_ready');
  });
});
