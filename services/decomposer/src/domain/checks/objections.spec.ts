import { covers, overlap } from '@fixpoint/contracts/documents/glob';
import { describe, expect, test } from '@jest/globals';
import { nodeOf, partOf, sliceOf } from '../slices.fixture.ts';
import { objectionsTo, type Whole } from './objections.ts';
import { shingles, similarity } from './similarity.ts';

const whole: Whole = {
  goal: 'All is migrated',
  node: nodeOf(),
  declared_parts: null,
  budget: { children_left: 8, depth_left: 2 },
  changed: [],
};
const [api, web] = [sliceOf('api'), sliceOf('web')];
const slices = (count: number) => Array.from({ length: count }, (_, at) => sliceOf(`layer${at}`));

describe('the checks of a proposal', () => {
  test('object to nothing that is two to six, disjoint, covering and new', () => {
    expect(objectionsTo([api, web], { ...whole, changed: ['api/a.ts', 'web/b.ts'] })).toEqual([]);
    expect(objectionsTo(slices(6), whole)).toEqual([]);
  });

  test.each([
    ['one', [api], whole, '1 slices are no split'],
    ['seven', slices(7), whole, '7 slices are more than 6'],
    ['more than are left', slices(3), { ...whole, budget: { children_left: 2, depth_left: 1 } }, 'children are left'],
    ['any at the deepest level', [api, web], { ...whole, budget: { children_left: 8, depth_left: 0 } }, 'depth'],
    ['a name twice', [api, sliceOf('api', { paths: ['other'] })], whole, 'two slices are called api'],
    ['a path that two may touch', [api, sliceOf('web', { paths: ['api/v2/**'] })], whole, 'may both touch api/**'],
    ['a changed file that nobody has', [api, web], { ...whole, changed: ['db/c.sql'] }, 'no slice has db/c.sql'],
    ['a declared part left out', [api, web], { ...whole, declared_parts: [partOf('db')] }, 'the declared part db'],
    [
      'H-T02 clones of each other',
      [
        sliceOf('first', { goal: 'Move the users table to the new schema' }),
        sliceOf('first', { name: 'First', goal: 'Move the users table to the new schema', paths: ['first'] }),
      ],
      whole,
      'are the same',
    ],
    [
      'a clone of the unit',
      [api, sliceOf('rest', { goal: 'All is migrated', paths: [], nodes: [nodeOf()] })],
      whole,
      'rest is the unit again',
    ],
    ['more than an event holds', [api, sliceOf('web', { goal: 'x'.repeat(50_000) })], whole, 'there is room for'],
  ])('object to %s', (_, proposed, held, objection) => {
    expect(objectionsTo(proposed, held).join('\n')).toContain(objection);
  });

  test('take a slice that names no paths for one that may touch any', () => {
    const free = sliceOf('rest', { paths: [] });
    expect(objectionsTo([api, free], { ...whole, changed: ['db/c.sql'] })).toEqual([]);
  });

  test('tell slices apart by what they say beside the goal that they share', () => {
    const goal = 'Every module of the repository uses the new logging interface and none the old one';
    const only = (name: string) => sliceOf(name, { goal: `Only ${name}/** of: ${goal}` });
    expect(objectionsTo([only('api'), only('web')], { ...whole, goal })).toEqual([]);
  });
});

describe('globs', () => {
  test.each([
    ['src/**', 'src/a/b.ts', true],
    ['src', 'src/a/b.ts', true],
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/a/b.ts', false],
    ['src/**', 'srcs/a.ts', false],
    ['a?.md', 'ab.md', true],
    ['a.md', 'aXmd', false],
    ['*a*a*a*a*a*a*b', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', true],
  ])('%s for %s: %s', (glob, path, expected) => {
    expect(covers(glob, path)).toBe(expected);
  });

  test.each([
    ['src/**', 'src/api/**', true],
    ['**/*.ts', 'src/a.ts', true],
    ['src/**', 'web/**', false],
    ['a.ts', 'a.ts', true],
  ])('%s and %s overlap: %s', (one, other, expected) => {
    expect([overlap(one, other), overlap(other, one)]).toEqual([expected, expected]);
  });
});

describe('similarity of texts', () => {
  test('is 1 for the same words, 0 for none in common, and between for some', () => {
    expect(similarity(shingles('Move the table'), shingles('move, the TABLE!'))).toBe(1);
    expect(similarity(shingles('move the table'), shingles('paint a wall'))).toBe(0);
    const some = similarity(shingles('move the table'), shingles('move the chair'));
    expect(some).toBeGreaterThan(0);
    expect(some).toBeLessThan(0.8);
    expect(similarity(shingles(''), shingles(''))).toBe(1);
  });
});
