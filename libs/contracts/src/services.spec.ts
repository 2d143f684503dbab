import { describe, expect, test } from '@jest/globals';
import { definitionOf, eventCatalogue } from './events/catalogue.ts';
import { isConsumed, READERS, SPREAD_TYPES, STOP_TYPES } from './services.ts';

describe('who reads what', () => {
  test('readers are named after their service, without a dot, which JetStream refuses', () => {
    for (const reader of Object.keys(READERS)) {
      expect(reader).toMatch(/^(orchestrator|validator|executor|decomposer|auditor)__[a-z_]+$/);
    }
  });

  test('nobody reads an event that is not in the catalogue', () => {
    for (const type of [...Object.values(READERS).flat(), ...SPREAD_TYPES, ...STOP_TYPES]) {
      expect([type, definitionOf(type)]).toEqual([type, expect.anything()]);
    }
  });

  test('no service reads from the bus what it writes itself, but for its own dead letters', () => {
    for (const [reader, types] of Object.entries(READERS)) {
      const [service = ''] = reader.split('__');
      for (const type of types) {
        const owners: readonly string[] = definitionOf(type)?.owners ?? [];
        expect([reader, type, owners.includes(service)]).toEqual([reader, type, type === 'dead_lettered']);
      }
    }
  });

  test('what nobody reads is not published', () => {
    const published = eventCatalogue.map(({ type }) => type).filter(isConsumed);
    expect(published).toEqual(expect.arrayContaining(['node_ready', 'task_blocked', 'split_decided']));
    expect(published).not.toEqual(expect.arrayContaining(['tool_called']));
    expect(isConsumed('unheard_of')).toBe(false);
  });

  test('work that may be long is read by somebody', () => {
    expect(SPREAD_TYPES.every(isConsumed)).toBe(true);
  });
});
