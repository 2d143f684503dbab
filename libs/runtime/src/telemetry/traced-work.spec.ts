import type { Command, CommandResult, Runner } from '@fixpoint/execution/runner';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { context, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { OTHER_ROOT, ROOT, recordedEvent, recordedTelemetry, traceOf } from './recorded-telemetry.fixture.ts';
import { tracedProjection } from './traced-projection.ts';
import { tracedRunner } from './traced-runner.ts';

const telemetry = recordedTelemetry();
afterAll(() => telemetry.stop());
beforeEach(() => telemetry.clear());

const OUTPUT = { hash: null, sha256: '', bytes: 0, head: 'secret', tail: '', truncated: false };
const RESULT: CommandResult = {
  ...{ status: 'exited', exitCode: 3, signal: null, durationMs: 12, stdout: OUTPUT, stderr: OUTPUT },
  ...{ leftovers: 0, survivors: [], error: null },
};
const answering = (run: Runner['run']): Runner => tracedRunner({ run }, telemetry);
const command = (program: Command['program']): Command => ({ program, cwd: '/', timeoutMs: 1 });

describe('a command', () => {
  test('is a span below the run that it belongs to, without what it says or prints', async () => {
    const run = telemetry.spans.open({
      name: 'work',
      kind: SpanKind.CONSUMER,
      attributes: {},
      parent: null,
      root: ROOT,
    });
    const runner = answering(async () => RESULT);
    const given = command({ kind: 'argv', argv: ['/usr/bin/git', 'push', 'https://token@host'] });
    await context.with(trace.setSpan(ROOT_CONTEXT, run), () => runner.run(given));
    const { attributes, ...span } = telemetry.named('run git');
    expect(span).toMatchObject({ trace: traceOf(ROOT), parent: run.spanContext().spanId });
    expect(attributes).toEqual({
      'process.executable.name': 'git',
      'process.exit.code': 3,
      'fixpoint.command.status': 'exited',
    });
    expect(telemetry.measured).toEqual(['fixpoint.command.duration exited']);
  });

  test.each<[Command['program'], string]>([
    [{ kind: 'shell', text: 'echo secret' }, 'run sh'],
    [{ kind: 'script', language: 'python3', text: 'print(1)' }, 'run python3'],
  ])('of %j is named after what runs it', async (program, name) => {
    await answering(async () => RESULT).run(command(program));
    expect(telemetry.seen().map((span) => span.name)).toEqual([name]);
  });

  test('whose runner fails has failed', async () => {
    const runner = answering(() => Promise.reject(new Error('disk full')));
    await expect(runner.run(command({ kind: 'shell', text: 'true' }))).rejects.toThrow('disk full');
    expect(telemetry.named('run sh').failure).toBe('disk full');
  });
});

describe('a page that is projected', () => {
  const project = tracedProjection(telemetry);
  const madeBy = (root: string, span: string) => recordedEvent(root, 'node_ready', `00-${traceOf(root)}-${span}-01`);
  const events = [
    madeBy(ROOT, 'a000000000000001'),
    madeBy(ROOT, 'a000000000000002'),
    madeBy(OTHER_ROOT, 'b000000000000001'),
  ];

  test('is a span per lineage, below its newest event, and a trace of its own linked with each', async () => {
    await project('auditor__read_model', events, async () => undefined);
    const [first, second, page] = telemetry.seen();
    expect(first).toMatchObject({ trace: traceOf(ROOT), parent: 'a000000000000002', links: [page?.id] });
    expect(second).toMatchObject({ trace: traceOf(OTHER_ROOT), parent: 'b000000000000001', links: [page?.id] });
    expect(page).toMatchObject({ parent: null, links: ['a000000000000002', 'b000000000000001'] });
    expect(telemetry.measured).toEqual(Array(3).fill('fixpoint.event.lag auditor__read_model'));
  });

  test('of one lineage is one span', async () => {
    await project('auditor__read_model', events.slice(0, 2), async () => undefined);
    expect(telemetry.named('project auditor__read_model')).toMatchObject({ trace: traceOf(ROOT), links: [] });
  });

  test('of events that were made without telemetry is none', async () => {
    await project('auditor__read_model', [recordedEvent(ROOT, 'node_ready')], async () => undefined);
    expect(telemetry.seen()).toEqual([]);
  });

  test('that can not be written has failed in each lineage, and throws', async () => {
    const failing = project('auditor__read_model', events, () => Promise.reject(new Error('no such column')));
    await expect(failing).rejects.toThrow('no such column');
    expect(telemetry.seen().map(({ failure }) => failure)).toEqual(Array(3).fill('no such column'));
    expect(telemetry.measured).toEqual([]);
  });
});
