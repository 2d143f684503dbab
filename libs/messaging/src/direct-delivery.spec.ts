import { describe, expect, test } from '@jest/globals';
import type { Publication } from './bus.ts';
import { DirectDelivery, type DirectReader } from './direct-delivery.ts';
import { publication, turn } from './messaging.fixture.ts';

const readersOf = (type: string): readonly string[] =>
  new Map([
    ['thing_done', ['svc__one', 'svc__two']],
    ['thing_begun', ['svc__one']],
  ]).get(type) ?? [];

const reader = (hasRoom = true): DirectReader & { readonly taken: Publication[] } => {
  const taken: Publication[] = [];
  return { taken, hasRoomFor: () => hasRoom, take: (each) => void taken.push(each) };
};

const delivery = () => {
  let deliveries = 0;
  const direct = new DirectDelivery(readersOf, () => {
    deliveries += 1;
  });
  return { direct, deliveries: () => deliveries };
};

describe('direct delivery', () => {
  test('reaches every reader of the type once, together at the end of the turn', async () => {
    const { direct, deliveries } = delivery();
    const [one, two] = [reader(), reader()];
    direct.add({ name: 'svc__one' }, one);
    direct.add({ name: 'svc__two' }, two);
    const both = publication('thing_done', 'a');
    const onlyOne = publication('thing_begun', 'b');
    expect([direct.deliver(both), direct.deliver(onlyOne)]).toEqual([true, true]);
    expect(one.taken).toEqual([]);
    await turn();
    expect(one.taken).toEqual([both, onlyOne]);
    expect(two.taken).toEqual([both]);
    expect(deliveries()).toBe(1);
  });

  test.each([
    [
      'one of its readers is elsewhere',
      'thing_done',
      (direct: DirectDelivery) => direct.add({ name: 'svc__one' }, reader()),
    ],
    [
      'one of its readers has no room',
      'thing_done',
      (direct: DirectDelivery) => {
        direct.add({ name: 'svc__one' }, reader());
        direct.add({ name: 'svc__two' }, reader(false));
      },
    ],
    [
      'its reader has left',
      'thing_begun',
      (direct: DirectDelivery) => {
        const left = reader();
        direct.add({ name: 'svc__one' }, left);
        direct.remove({ name: 'svc__one' }, left);
      },
    ],
    ['nobody is known to read it', 'thing_unheard_of', () => undefined],
  ])('is refused when %s: the event has to be a message, for all', async (_when, type, prepare) => {
    const { direct, deliveries } = delivery();
    prepare(direct);
    expect(direct.deliver(publication(type, 'a'))).toBe(false);
    await turn();
    expect(deliveries()).toBe(0);
  });

  test('never takes what is meant for one reader, with a count that only a message carries', () => {
    const { direct } = delivery();
    direct.add({ name: 'svc__one' }, reader());
    const only = { reader: 'svc__one', failures: 5 };
    expect(direct.deliver({ ...publication('thing_begun', 'a'), only })).toBe(false);
  });

  test('goes to one of two readers of the same name, one with room', async () => {
    const { direct } = delivery();
    const [full, free] = [reader(false), reader()];
    direct.add({ name: 'svc__one' }, full);
    direct.add({ name: 'svc__one' }, free);
    expect(direct.deliver(publication('thing_begun', 'a'))).toBe(true);
    await turn();
    expect([full.taken.length, free.taken.length]).toEqual([0, 1]);
  });

  test('counts what a reader is given in the same turn as taken', async () => {
    const { direct } = delivery();
    const taken: Publication[] = [];
    const two: DirectReader = { hasRoomFor: (_, ahead) => taken.length + ahead < 2, take: (each) => taken.push(each) };
    direct.add({ name: 'svc__one' }, two);
    const all = ['a', 'b', 'c'].map((id) => publication('thing_begun', id));
    expect(all.map((each) => direct.deliver(each))).toEqual([true, true, false]);
    await turn();
    expect(taken).toEqual(all.slice(0, 2));
  });

  test('is complete before a reader leaves, which then can give to others what it has not begun', async () => {
    const { direct } = delivery();
    const leaving = reader();
    direct.add({ name: 'svc__one' }, leaving);
    const last = publication('thing_begun', 'a');
    direct.deliver(last);
    direct.remove({ name: 'svc__one' }, leaving);
    expect(leaving.taken).toEqual([last]);
    await turn();
    expect(leaving.taken).toEqual([last]);
  });
});
