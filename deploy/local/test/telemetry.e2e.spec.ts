import { examples } from '@fixpoint/examples/examples';
import { runExample } from '@fixpoint/examples/run-example';
import { eventually } from '@fixpoint/testing/eventually';
import { type TestDatabase, testDatabase } from '@fixpoint/testing/test-database';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { documentedSpans, undocumented } from './documented-spans.ts';
import { type RunningInstallation, startInstallation } from './installation.ts';
import { type ExportedSpan, type OtlpCollector, startOtlpCollector } from './otlp-collector.ts';

const PATIENCE_MS = 90_000;
const SERVICES = ['auditor', 'decomposer', 'executor', 'orchestrator', 'validator'];

/** In a lineage that no fix could bring to an end the decomposer was asked as well. */
const LINEAGES = {
  'format-and-lint': SERVICES.filter((name) => name !== 'decomposer'),
  'never-passes/deeper': SERVICES,
};

/** All that a healthy installation has something to say of. */
const METRICS = [
  'db.client.operation.duration',
  'fixpoint.bus.consumer.backlog',
  'fixpoint.command.duration',
  'fixpoint.dead_letter.open',
  'fixpoint.event.lag',
  'fixpoint.lineage.attempts',
  'fixpoint.lineage.closure.depth',
  'fixpoint.lineage.time_to_converge',
  'fixpoint.store.watermark.age',
  'fixpoint.task.count',
  'http.server.request.duration',
  'messaging.process.duration',
];

const set = (values: readonly string[]): string[] => [...new Set(values)].toSorted();

describe.each([
  { kind: 'five processes on JetStream', embedded: false },
  { kind: 'one process', embedded: true },
])('telemetry of $kind', ({ embedded }) => {
  let collector: OtlpCollector;
  let database: TestDatabase;
  let exitCode: number | null;
  const lineages = new Map<string, string>();

  beforeAll(async () => {
    collector = await startOtlpCollector();
    database = await testDatabase();
    const installation = await startInstallation({
      postgresUrl: database.url,
      embedded,
      telemetryEnv: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_METRIC_EXPORT_INTERVAL: '2000',
      },
    });
    await runAll(installation);
    await eventually('every metric has arrived', () => missingMetrics().length === 0);
    // The newest spans still wait for company: what is here afterwards was sent on SIGTERM.
    exitCode = await installation.stop();
  }, 240_000);

  afterAll(async () => {
    await database.close();
    await collector.close();
  });

  const runAll = async ({ client, path, workerUrl, folder }: RunningInstallation): Promise<void> => {
    const onSubmitted = ({ name }: { name: string }, lineage: string) => void lineages.set(name, lineage);
    const options = { client, path, workerUrl, folder, timeoutMs: PATIENCE_MS, onSubmitted };
    const wanted = examples.filter(({ name }) => name in LINEAGES);
    const runs = await Promise.all(wanted.map((example) => runExample(example, options)));
    expect(runs.flatMap(({ surprises }) => surprises)).toEqual([]);
  };

  const traceOf = (example: string): readonly ExportedSpan[] => {
    const trace = lineages.get(example)?.replaceAll('-', '');
    return collector.spans().filter(({ traceId }) => traceId === trace);
  };

  test('ends in time', () => expect(exitCode).toBe(0));

  test.each(Object.entries(LINEAGES))('%s is one trace in which each of its services appears', (example, services) => {
    const spans = traceOf(example);
    expect(set(spans.flatMap(({ attributes }) => attributes['fixpoint.service'] ?? []))).toEqual(services);
    expect(set(spans.map(({ sender }) => sender))).toEqual(embedded ? ['fixpoint'] : services);
    const elsewhere = collector
      .spans()
      .filter(({ attributes }) => attributes['fixpoint.lineage'] === lineages.get(example))
      .filter(({ traceId }) => traceId !== spans[0]?.traceId);
    expect(elsewhere).toEqual([]);
  });

  test.each(Object.keys(LINEAGES))(
    'every span of %s hangs below one that was exported too, or is an append',
    (example) => {
      const spans = traceOf(example);
      const ids = new Set(spans.map(({ spanId }) => spanId));
      expect(spans.filter(({ parentSpanId }) => parentSpanId !== '' && !ids.has(parentSpanId))).toEqual([]);
      // What a timer causes has no span before it. Of all others only the submission has none.
      const first = spans.filter(({ parentSpanId }) => parentSpanId === '').map(({ name }) => name);
      expect(first).toContain('append task_submitted');
      expect(first.filter((name) => !name.startsWith('append '))).toEqual([]);
    },
  );

  test('a lineage and the request that began it are linked both ways', () => {
    const first = traceOf('format-and-lint').find(({ name }) => name === 'append task_submitted');
    const [link] = first?.links ?? [];
    const request = collector.spans().find(({ spanId }) => spanId === link?.spanId);
    expect(request?.name).toBe('POST /v1/tasks');
    expect(request?.links.map(({ spanId }) => spanId)).toContain(first?.spanId);
  });

  test('bus, store and runner each leave spans', () => {
    const kinds = set(traceOf('format-and-lint').map(({ name }) => name.split(' ')[0] ?? ''));
    expect(kinds).toEqual(['append', 'process', 'project', 'publish', 'run']);
  });

  test('every span and attribute that was sent is in the page on telemetry, and every span of it was sent', () => {
    const rows = documentedSpans();
    const spans = collector.spans();
    expect(undocumented(spans, rows)).toEqual([]);
    const sent = rows.filter(({ pattern }) => spans.some(({ name }) => pattern.test(name)));
    // Nothing is given up here, and whether several events come at once is a matter of luck.
    const rare = ['process batch READER', 'dead_letter TYPE'];
    expect(set([...sent.map(({ name }) => name), ...rare])).toEqual(set(rows.map(({ name }) => name)));
  });

  test('metrics arrive from every service', () => {
    expect(missingMetrics()).toEqual([]);
    expect(set(collector.metrics().map(({ sender }) => sender))).toEqual(embedded ? ['fixpoint'] : SERVICES);
  });

  const missingMetrics = (): readonly string[] => {
    const there = new Set(collector.metrics().map(({ name }) => name));
    return METRICS.filter((name) => !there.has(name));
  };
});
