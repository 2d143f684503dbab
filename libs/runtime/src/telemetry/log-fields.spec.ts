import { afterAll, describe, expect, test } from '@jest/globals';
import { context, ROOT_CONTEXT, type Span, SpanKind, trace } from '@opentelemetry/api';
import { logFields } from './log-fields.ts';
import { OTHER_ROOT, ROOT, recordedTelemetry, traceOf } from './recorded-telemetry.fixture.ts';

const telemetry = recordedTelemetry();
afterAll(() => telemetry.stop());

const span = telemetry.spans.open({ name: 'work', kind: SpanKind.INTERNAL, attributes: {}, parent: null, root: ROOT });
const within = (open: Span, fields: object): object =>
  context.with(trace.setSpan(ROOT_CONTEXT, open), () => logFields(fields));

describe('a record of the log', () => {
  test('names the span that is open', () => {
    const { traceId, spanId } = span.spanContext();
    const expected = { trace_id: traceId, span_id: spanId, trace_flags: '01' };
    expect(within(span, {})).toEqual(expected);
    expect(within(span, { root: ROOT })).toEqual(expected);
  });

  test('about another lineage than the open span is in the trace of that lineage', () =>
    expect(within(span, { root: OTHER_ROOT })).toEqual({ trace_id: traceOf(OTHER_ROOT) }));

  test('about a lineage is in its trace though no span is open', () =>
    expect(logFields({ root: ROOT })).toEqual({ trace_id: traceOf(ROOT) }));

  test.each([{}, { root: 7 }, { root: 'protocol-web-shop' }])('with %j and no open span says nothing', (fields) =>
    expect(logFields(fields)).toEqual({}),
  );
});
