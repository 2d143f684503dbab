import { eventCatalogue } from '@fixpoint/contracts/events/catalogue';
import { expect, test } from '@jest/globals';
import { unreached } from './unreached.ts';

const all = Object.fromEntries(eventCatalogue.map(({ type }) => [type, 1]));

test('a type of which there is no event is told, and no other', () => {
  const { node_ready: _, ...others } = all;
  expect(unreached(others)).toEqual(['node_ready']);
  expect(unreached(all)).toEqual([]);
  const { split_refused: __, ...usual } = all;
  expect(unreached(usual)).toEqual([]);
});
