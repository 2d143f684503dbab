import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parameterList } from './parameter-list.ts';
import { primitives } from './primitives.ts';
import { primitivesPage } from './primitives-page.ts';

describe('the page of primitives', () => {
  test('is current; `npm run generate` writes it', () => {
    const page = readFileSync(new URL('../../../../docs/primitives.md', import.meta.url), 'utf8');
    expect(page).toBe(primitivesPage());
  });

  test('explains every parameter', () => {
    const bare = [...primitives.values()].flatMap((each) =>
      parameterList(each)
        .filter(({ about }) => about === '')
        .map(({ name }) => `${each.name}.${name}`),
    );
    expect(bare).toEqual([]);
  });
});

test('every step promises a check that there is, and no check promises anything', () => {
  for (const { name, effects, check } of primitives.values()) {
    const promised = check === null ? null : primitives.get(check)?.effects;
    expect([name, promised]).toEqual([name, effects ? false : null]);
  }
});
