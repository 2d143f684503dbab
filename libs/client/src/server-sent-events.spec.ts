import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Message, messagesOf } from './server-sent-events.ts';

const collect = async (chunks: readonly Uint8Array[], onChunk?: () => void): Promise<Message[]> => {
  const body = (async function* () {
    yield* chunks;
  })();
  const messages: Message[] = [];
  for await (const message of messagesOf(body, onChunk)) messages.push(message);
  return messages;
};

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('messages of an event stream', () => {
  test('are the same however the bytes are cut', async () => {
    const text = fc.array(
      fc.record({ id: fc.stringMatching(/^[0-9.]{0,9}$/), data: fc.string({ unit: 'grapheme' }) }),
      { maxLength: 5 },
    );
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 9 }), async (sent, size) => {
        const messages = sent.map(({ id, data }) => ({ id, data: JSON.stringify(data) }));
        const stream = bytes(messages.map(({ id, data }) => `id: ${id}\ndata: ${data}\n\n`).join(': still here\n\n'));
        const chunks = Array.from({ length: Math.ceil(stream.length / size) }, (_, n) =>
          stream.slice(n * size, (n + 1) * size),
        );
        expect(await collect(chunks)).toEqual(messages);
      }),
    );
  });

  test('skip what is no message, and what the end cuts off', async () => {
    const chunks = ['retry: 1000\n\n: hello\n\n', 'data: a\r\ndata:b\r\n\r\n', 'id: 7\ndata: cut'].map(bytes);
    expect(await collect(chunks)).toEqual([{ id: '', data: 'a\nb' }]);
  });

  test('a heartbeat is heard', async () => {
    let heard = 0;
    await collect([bytes(': a\n\n'), bytes(': b\n\n')], () => {
      heard += 1;
    });
    expect(heard).toBe(2);
  });
});
