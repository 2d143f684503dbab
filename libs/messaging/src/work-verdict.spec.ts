import { parseEvent, readEvent } from '@fixpoint/contracts/events/parse-event';
import { describe, expect, test } from '@jest/globals';
import { anEvent } from './messaging.fixture.ts';
import { failedBy } from './work-verdict.ts';

/** What reading throws. */
const thrownBy = (read: () => unknown): Error => {
  try {
    read();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('it could be read');
};

describe('F7 an event that can not be read', () => {
  const offered = anEvent('node_ready', 'offered');

  test.each([
    ['of data that its schema refuses', { ...offered, data: null }, true],
    ['of a version from before', { ...offered, schema_version: 0 }, true],
    ['of a type that nobody here subscribes to', { ...offered, type: 'node_dreamt_of' }, true],
    ['of a higher version, which a newer release beside this one may know', { ...offered, schema_version: 99 }, false],
  ])('%s', (_what, event, isFinal) => {
    const error = thrownBy(() => parseEvent(event));
    expect(failedBy(error, { event })).toEqual({ verdict: 'failed', error: error.message, isFinal });
  });

  test('in a stream behind the one that was offered is left to newer releases when its type is unknown', () => {
    const stored = { ...offered, id: 'stored', type: 'node_dreamt_of' };
    const error = thrownBy(() => readEvent(stored, 'node_ready'));
    expect(failedBy(error, { event: offered }).verdict).toBe('failed');
    expect(failedBy(error, { event: offered })).toMatchObject({ isFinal: false });
  });

  test('is not what any other failure is', () => {
    expect(failedBy(new Error('refused'), { event: offered })).toMatchObject({ isFinal: false });
  });
});
