import { eventCatalogue } from '@fixpoint/contracts/events/catalogue';
import { isConsumed } from '@fixpoint/contracts/services';
import { describe, expect, test } from '@jest/globals';
import { feedNamesIn, namesIn, WORK_CLASSES } from './jetstream-topology.ts';

describe('subjects', () => {
  test('N21: are as many as there are types, however many tasks there are', () => {
    const { subject } = namesIn('fixpoint');
    const fed = feedNamesIn('fixpoint');
    const work = eventCatalogue
      .filter(({ type }) => isConsumed(type))
      .flatMap(({ type }) => WORK_CLASSES.map((workClass) => subject(type, workClass)));
    const feed = eventCatalogue.map(({ type }) => fed.subject(type));
    for (const name of [...work, ...feed])
      expect(name).toMatch(/^fixpoint\.(?:work\.[a-z_]+\.(?:normal|low)|events\.[a-z_]+)$/);
    expect(new Set([...work, ...feed]).size).toBeLessThan(300);
  });

  test('of work and of the feed never overlap', () => {
    expect([namesIn('a').everything, feedNamesIn('a').everything]).toEqual(['a.work.>', 'a.events.>']);
    expect(() => namesIn('a.b')).toThrow('a.b');
  });
});
