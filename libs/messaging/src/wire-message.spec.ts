import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { anEvent, idsOf, publication } from './messaging.fixture.ts';
import { MESSAGE_LIMITS, packMessages, parseMessage } from './wire-message.ts';

const item = (id: string, text = ''): { publication: ReturnType<typeof publication> } => ({
  publication: publication('thing_done', id, {
    offer: { event: anEvent('thing_done', id, { text }), nodeReady: null },
  }),
});

const idsIn = (body: string): string[] => {
  const message = parseMessage(body);
  return message.kind === 'offers' ? idsOf(message.offers) : [message.kind];
};

describe('packing', () => {
  test('fills a message up to the limit of offers, and begins the next', () => {
    const packed = packMessages(
      ['a', 'b', 'c'].map((id) => item(id)),
      { ...MESSAGE_LIMITS, maxOffers: 2 },
    );
    expect(packed.map(({ body }) => idsIn(body))).toEqual([['a', 'b'], ['c']]);
  });

  test('fills a message up to the limit of bytes, counted as they go over the wire', () => {
    const wide = '\u{1F600}'.repeat(100);
    const size = Buffer.byteLength(
      JSON.stringify({ event: item('a', wide).publication.offer.event, node_ready: null }),
    );
    const items = ['a', 'b'].map((id) => item(id, wide));
    const limits = { ...MESSAGE_LIMITS, maxBatchBytes: 2 * size };
    expect(packMessages(items, limits)).toHaveLength(1);
    expect(packMessages(items, { ...limits, maxBatchBytes: 2 * size - 1 })).toHaveLength(2);
  });

  test('points at an offer that is too big, and carries those beside it', () => {
    const packed = packMessages([item('a'), item('big', 'x'.repeat(2_000)), item('b')], {
      ...MESSAGE_LIMITS,
      maxOfferBytes: 2_000,
    });
    expect(packed.map(({ body }) => idsIn(body))).toEqual([['pointer'], ['a', 'b']]);
    expect(packed.map(({ carries }) => carries.length)).toEqual([1, 2]);
  });

  test('loses, repeats and reorders nothing, and changes no character', () => {
    const texts = fc.array(fc.string({ unit: 'binary', maxLength: 200 }), { maxLength: 30 });
    fc.assert(
      fc.property(
        texts,
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 3_000 }),
        (all, maxOffers, maxBatchBytes) => {
          const items = all.map((text, n) => item(`e${n}`, text));
          const read = packMessages(items, { ...MESSAGE_LIMITS, maxOffers, maxBatchBytes }).flatMap(({ body }) => {
            const message = parseMessage(body);
            return message.kind === 'offers' ? message.offers : [];
          });
          expect(read).toEqual(items.map(({ publication: { offer } }) => offer));
        },
      ),
    );
  });
});

describe('reading a message', () => {
  test.each([
    ['no JSON', '{"offers":'],
    ['no object', '[]'],
    ['no offers', '{"offers":[]}'],
    ['an offer without an event', '{"offers":[{"node_ready":null}]}'],
    ['an event without a name', '{"offers":[{"event":{"type":"x","stream":"s","version":1}}]}'],
    ['a node_ready that is none', `{"offers":[{"event":${JSON.stringify(anEvent('x', 'a'))},"node_ready":1}]}`],
    ['a pointer to nowhere', '{"pointer":{"event":{"stream":"s"}}}'],
    [
      'a pointer with half a node_ready',
      '{"pointer":{"event":{"stream":"s","version":1},"node_ready":{"stream":"s"}}}',
    ],
  ])('%s is told apart', (_what, text) => {
    expect(parseMessage(text).kind).toBe('malformed');
  });

  test('a pointer says where the event and its node_ready are', () => {
    const text = '{"pointer":{"event":{"stream":"s","version":3},"node_ready":{"stream":"r","version":2}}}';
    expect(parseMessage(text)).toEqual({
      kind: 'pointer',
      event: { stream: 's', version: 3 },
      nodeReady: { stream: 'r', version: 2 },
    });
  });
});
