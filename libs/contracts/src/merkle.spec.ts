import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { merkleTree, rootOf } from './merkle.ts';

const leaves = fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 40 });

describe('a hash tree', () => {
  test('proves each of its leaves, at its place and at no other', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 40 }), (texts) => {
        const { root, proofs } = merkleTree(texts);
        for (const [place, text] of texts.entries()) {
          const proven = proofs.map((proof) => rootOf(text, proof) === root);
          expect(proven).toEqual(proofs.map(({ index }) => index === place));
        }
      }),
    );
  });

  test('proves no text that is not in it, and nothing with a proof that was tampered with', () => {
    fc.assert(
      fc.property(leaves, fc.string(), fc.nat(), (texts, other, seed) => {
        const { root, proofs } = merkleTree(texts);
        const index = seed % texts.length;
        const [proof, text] = [proofs[index], texts[index]];
        if (proof === undefined || text === undefined) throw new Error('a leaf without a proof');
        fc.pre(other !== text);
        expect(rootOf(other, proof)).not.toBe(root);
        expect(rootOf(text, { ...proof, hashes: [...proof.hashes, root] })).not.toBe(root);
        if (proof.hashes.length > 0) expect(rootOf(text, { ...proof, hashes: proof.hashes.slice(1) })).not.toBe(root);
      }),
    );
  });

  test('takes no inner node for a leaf', () => {
    const { root, proofs } = merkleTree(['a', 'b']);
    const [a, b] = [proofs[1]?.hashes[0] ?? '', proofs[0]?.hashes[0] ?? ''];
    const inner = Buffer.concat([Buffer.from(a, 'base64url'), Buffer.from(b, 'base64url')]).toString('latin1');
    expect(rootOf(inner, { index: 0, size: 1, hashes: [] })).not.toBe(root);
  });

  test('has the root that RFC 6962 gives an only leaf: the hash of a zero byte and the leaf', () => {
    // sha256 of one zero byte.
    const empty = '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d';
    expect(Buffer.from(merkleTree(['']).root, 'base64url').toString('hex')).toBe(empty);
  });

  test.each([
    [{ index: -1, size: 1 }],
    [{ index: 1, size: 1 }],
    [{ index: 0.5, size: 2 }],
    [{ index: 0, size: Number.NaN }],
    [{ index: 0, size: 2 ** 60 }],
  ])('knows a proof that is none: %j', (place) => {
    expect(rootOf('a', { ...place, hashes: [] })).toBeNull();
  });

  test('needs a leaf', () => {
    expect(() => merkleTree([])).toThrow(RangeError);
  });
});
