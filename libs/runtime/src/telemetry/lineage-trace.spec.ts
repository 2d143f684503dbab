import { describe, expect, test } from '@jest/globals';
import { spanContextOf, traceIdOf, traceparentOf } from './lineage-trace.ts';

const ROOT = '0af76519-16cd-43dd-8448-eb211c80319c';
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

describe('the trace of a lineage', () => {
  test('has the id of the lineage', () => expect(traceIdOf(ROOT)).toBe(TRACE));
  test.each(['protocol-web-shop', 'dead-executor', ROOT.toUpperCase(), ''])('is none for %s', (root) =>
    expect(traceIdOf(root)).toBeNull(),
  );
});

describe('a traceparent', () => {
  test.each([
    [1, '01'],
    [0, '00'],
  ])('keeps whether the trace is sampled: %s', (traceFlags, flags) => {
    const text = traceparentOf({ traceId: TRACE, spanId: SPAN, traceFlags });
    expect(text).toBe(`00-${TRACE}-${SPAN}-${flags}`);
    expect(spanContextOf(text)).toEqual({ traceId: TRACE, spanId: SPAN, traceFlags, isRemote: true });
  });

  test.each([
    undefined,
    '',
    'nonsense',
    `ff-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  ])('that is none says nothing: %s', (text) => expect(spanContextOf(text)).toBeNull());
});
