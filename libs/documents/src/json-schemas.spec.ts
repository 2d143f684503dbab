import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { documentJsonSchemas } from './json-schemas.ts';
import { keyDescriptions } from './key-descriptions.ts';
import { protocolDocuments } from './protocol-document.fixture.ts';
import { taskDocuments } from './task-document.fixture.ts';

const folder = new URL('../../contracts/schemas/', import.meta.url);
const ajv = new Ajv2020({ strict: false });

describe('published JSON Schemas of documents', () => {
  test('what is checked in is current; `npm run generate` writes it', () => {
    const schemas = documentJsonSchemas();
    expect(readdirSync(folder).sort()).toEqual(Object.keys(schemas).sort());
    for (const [file, schema] of Object.entries(schemas)) {
      expect(JSON.parse(readFileSync(new URL(file, folder), 'utf8'))).toEqual(schema);
    }
  });

  test('they tell a good document from a bad one', () => {
    const validate = ajv.compile(documentJsonSchemas()['task.v1.json'] ?? {});
    const task = { kind: 'task/v1', name: 't', recipe: { command: 'make' }, timeout: '5m' };
    expect(validate(task)).toBe(true);
    expect(validate({ ...task, nodes: [{ recipe: { primitive: 'commit', with: { n: [1, null] } } }] })).toBe(false);
    expect(validate({ ...task, timeout: '5 minutes' })).toBe(false);
    expect(
      validate({ kind: 'task/v1', name: 't', nodes: [{ recipe: { primitive: 'commit', with: { n: [1, null] } } }] }),
    ).toBe(true);
  });

  test.each([
    ['task.v1.json', taskDocuments],
    ['protocol.v1.json', protocolDocuments],
  ] as const)('%s refuses nothing that is well formed', (file, documents) => {
    const validate = new Ajv2020({ strict: false }).compile(documentJsonSchemas()[file] ?? false);
    fc.assert(
      fc.property(documents as fc.Arbitrary<object>, (document) => {
        validate(document);
        expect(validate.errors).toBeNull();
      }),
    );
  });

  test('every key says what it is for, and nothing is said of keys that there are not', () => {
    const keys = Object.values(documentJsonSchemas()).flatMap(propertiesOf);
    expect(keys.filter(([, { description }]) => description === undefined).map(([key]) => key)).toEqual([]);
    expect(Object.keys(keyDescriptions).filter((key) => !keys.some(([known]) => known === key))).toEqual([]);
  });
});

type Property = readonly [key: string, schema: { readonly description?: string }];

const propertiesOf = (schema: unknown): Property[] => {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {} } = schema as { properties?: Record<string, { description?: string }> };
  return [...Object.entries(properties), ...Object.values(schema).flatMap(propertiesOf)];
};
