import { memoryArtifacts } from '@fixpoint/event-store/memory-artifacts';
import { describe, expect, test } from '@jest/globals';
import { nodeOutput, outputOfText, overlaid } from './node-output.ts';

const outputs = (text: string, truncated = false, hash: string | null = 'h') => ({
  hash,
  sha256: 'h',
  bytes: Buffer.byteLength(text),
  head: text,
  tail: '',
  truncated,
});

describe('node output', () => {
  const artifacts = memoryArtifacts();

  test('is null when nothing was printed', async () => {
    expect(await nodeOutput(outputs(''), artifacts)).toEqual({ output: null, artifact: null });
  });
  test('is JSON where it is JSON', () => expect(outputOfText('{"a":[1]}')).toEqual({ a: [1] }));
  test.each(['12345678901234567890', '1e400', '{"a":1', 'plain\0text'])(
    'E2 stays text where it is not (%j)',
    (text) => {
      expect(outputOfText(text)).toBe(text);
    },
  );
  test('reads the whole where only its ends are at hand', async () => {
    const text = JSON.stringify({ long: 'é'.repeat(10_000) });
    const { hash } = await artifacts.put(Buffer.from(text));
    expect(await nodeOutput(outputs(text, true, hash), artifacts)).toEqual({
      output: JSON.parse(text),
      artifact: null,
    });
  });
  test('is kept by hash above 32 KiB', async () => {
    expect(await nodeOutput(outputs('x'.repeat(32_769)), artifacts)).toEqual({ output: null, artifact: 'h' });
  });
  test('is kept by hash when its JSON would not fit into an event', async () => {
    expect(await nodeOutput(outputs('\0'.repeat(20_000)), artifacts)).toEqual({ output: null, artifact: 'h' });
  });
  test('I-T04 the check wins over the recipe', () => {
    expect(overlaid({ output: { a: 1, b: 1 }, artifact: null }, { b: 2 })).toEqual({
      output: { a: 1, b: 2 },
      artifact: null,
    });
    expect(overlaid({ output: 'text', artifact: null }, { b: 2 })).toEqual({ output: { b: 2 }, artifact: null });
    expect(overlaid({ output: { a: 1 }, artifact: null }, 'ok')).toEqual({ output: { a: 1 }, artifact: null });
  });
});
