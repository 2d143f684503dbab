import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { childAddress, fixAddress, ROOT_ADDRESS, recoveryDepth, runAddress, taskIdAt, unitIdOf } from './addresses.ts';
import {
  actionStream,
  councilStream,
  deadLetterStream,
  gateStream,
  lineageStream,
  protocolStream,
  streamCategory,
} from './streams.ts';

const ordinals = fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 4 });
const addressOf = (path: readonly number[]): string => path.reduce(fixAddress, ROOT_ADDRESS);

/** Children and fixes, in any order on the way down. */
const places = fc.array(fc.tuple(fc.constantFrom(childAddress, fixAddress), fc.integer({ min: 1, max: 12 })), {
  maxLength: 5,
});
const placeOf = (path: readonly (readonly [typeof childAddress, number])[]): string =>
  path.reduce((at, [step, n]) => step(at, n), ROOT_ADDRESS);

describe('addresses', () => {
  test('are read from left to right', () => {
    expect(addressOf([])).toBe('0');
    expect(addressOf([2, 1])).toBe('0~2~1');
    expect(runAddress('0~2', 3)).toBe('0~2#3');
  });

  test('tell the depth of recovery', () => {
    fc.assert(fc.property(ordinals, (path) => expect(recoveryDepth(addressOf(path))).toBe(path.length)));
  });
});

describe('ids of tasks', () => {
  const ROOT = '0192d3a4b5c6';

  test('the root has its own, a fix one that is made of it', () => {
    expect(taskIdAt(ROOT, '0')).toBe(ROOT);
    expect(taskIdAt(ROOT, '0~2~1')).toBe(`${ROOT}.f2.f1`);
  });

  test('two places never share one', () => {
    fc.assert(
      fc.property(places, places, (a, b) => {
        expect(taskIdAt(ROOT, placeOf(a)) === taskIdAt(ROOT, placeOf(b))).toBe(placeOf(a) === placeOf(b));
      }),
    );
  });

  test('of a child and of its fixes name the same unit', () => {
    expect(taskIdAt(ROOT, childAddress(childAddress('0', 2), 1))).toBe(`${ROOT}.2.1`);
    fc.assert(
      fc.property(places, ordinals, (path, fixes) => {
        const unit = childAddress(placeOf(path), 1);
        expect(unitIdOf(taskIdAt(ROOT, fixes.reduce(fixAddress, unit)))).toBe(taskIdAt(ROOT, unit));
      }),
    );
  });

  test('are safe in streams and in git refs', () => {
    fc.assert(fc.property(places, (path) => expect(taskIdAt(ROOT, placeOf(path))).toMatch(/^[\w.]+$/)));
  });
});

describe('streams', () => {
  test.each([
    [lineageStream('r-1'), 'lineage'],
    [protocolStream('web-shop'), 'protocol'],
    [gateStream('r-1.f1', 2), 'gate'],
    [actionStream('r-1.f1', 2), 'action'],
    [councilStream('r-1', 1), 'council'],
    [deadLetterStream('auditor'), 'dead'],
  ])('%s is of category %s', (stream, category) => {
    expect(streamCategory(stream)).toBe(category);
  });

  test('each run has a gate and an action of its own', () => {
    expect(gateStream('r', 12)).not.toBe(gateStream('r', 1));
    expect(actionStream('r', 2)).toBe('action-r-2');
  });
});
