import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseProtocol } from './parse-protocol.ts';
import { printProtocol } from './print-task.ts';
import { protocolDocuments } from './protocol-document.fixture.ts';
import type { ProtocolDocument } from './protocol-document.ts';

const read = (written: string): ProtocolDocument | null =>
  parseProtocol(written, { knownPrimitives: { names: [], problems: () => [] }, deniedBy: () => null }).document;

describe('printing a protocol', () => {
  test('and parsing again is the identity, and so is printing again', () => {
    fc.assert(
      fc.property(protocolDocuments, (written) => {
        const printed = printProtocol(written);
        expect(read(printed)).toEqual(written);
        expect(printProtocol(read(printed) ?? written)).toBe(printed);
      }),
      { numRuns: 100 },
    );
  });

  test('says the same as JSON does', () => {
    fc.assert(
      fc.property(protocolDocuments, (written) => {
        expect(read(JSON.stringify(written))).toEqual(read(printProtocol(written)));
      }),
      { numRuns: 50 },
    );
  });
});
