import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type EventIdParts, eventId } from './event-id.ts';

const parts: EventIdParts = {
  causeId: 'cause-1',
  causeTime: '2026-01-02T03:04:05.006Z',
  handler: 'orchestrator__react',
  stream: 'lineage-1',
  index: 0,
};

describe('event id', () => {
  test('is fixed for ever', () => {
    expect(eventId(parts)).toBe('019b7ca9-8c8e-89f9-8bf0-8dcb7bd30bf8');
  });

  test('is a uuid of version 8 that begins with the time of the cause', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(2 ** 31), fc.nat(), (causeId, ms, index) => {
        const id = eventId({ ...parts, causeId, index, causeTime: new Date(ms).toISOString() });
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(ms);
      }),
    );
  });

  test.each([
    ['cause', { causeId: 'cause-2' }],
    ['handler', { handler: 'orchestrator__other' }],
    ['stream', { stream: 'lineage-2' }],
    ['place', { index: 1 }],
    ['time', { causeTime: '2026-01-02T03:04:05.007Z' }],
  ])('differs with the %s', (_name, change) => {
    expect(eventId({ ...parts, ...change })).not.toBe(eventId(parts));
  });

  test('cannot be made equal by moving text from one part to the next', () => {
    expect(eventId({ ...parts, causeId: 'a', handler: 'bc' })).not.toBe(
      eventId({ ...parts, causeId: 'ab', handler: 'c' }),
    );
  });

  test('is refused for a cause without a time', () => {
    expect(() => eventId({ ...parts, causeTime: 'yesterday' })).toThrow(RangeError);
  });
});
