import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MASK, maskedOutput } from './masked-output.ts';

async function* chunksOf(text: string, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size));
}

const masked = async (text: string, size: number, secret: string): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of maskedOutput(chunksOf(text, size), secret)) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
};

test('shows no secret, wherever the chunks are cut, and everything else', async () => {
  const text = fc.array(fc.constantFrom('aab', 'a', 'b', 'c', 'aabaac'), { maxLength: 30 }).map((all) => all.join(''));
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 9 }), async (printed, size) => {
      expect(await masked(printed, size, 'aabaac')).toBe(printed.replaceAll('aabaac', MASK));
    }),
  );
});

test('a beginning that never goes on is shown', async () => {
  expect(await masked('the token is aabaa', 4, 'aabaac')).toBe('the token is aabaa');
});
