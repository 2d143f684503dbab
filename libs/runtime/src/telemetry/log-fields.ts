import { context, trace } from '@opentelemetry/api';
import { traceIdOf } from './lineage-trace.ts';

/**
 * The span that is open while a record is written. A record about a lineage (`root`) belongs to its trace, also when it is
 * written on behalf of many lineages at once; then it names no span.
 */
export const logFields = (fields: object): object => {
  const root = 'root' in fields && typeof fields.root === 'string' ? traceIdOf(fields.root) : null;
  const running = trace.getSpanContext(context.active());
  if (running === undefined || (root !== null && running.traceId !== root)) {
    return root === null ? {} : { trace_id: root };
  }
  const { traceId, spanId, traceFlags } = running;
  return { trace_id: traceId, span_id: spanId, trace_flags: `0${traceFlags & 1}` };
};
