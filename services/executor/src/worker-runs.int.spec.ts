import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Done, type JobHandler, runWorker, WorkerTrouble } from '@fixpoint/client/worker';
import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import type { LeasedJob } from '@fixpoint/contracts/rest/jobs';

import type { Running } from '@fixpoint/runtime/start';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { NodeReady } from './run/assignment.ts';
import { commandHolds, executorWorld } from './run-reader.fixture.ts';
import { servedJobs } from './served-jobs.fixture.ts';

// Real processes on a busy machine.
jest.setTimeout(30_000);

const NODE: Partial<NodeSpec> = {
  recipe: { worker: 'paint', with: { colour: 'red' } },
  postcondition: commandHolds('grep -q red colour'),
};

let world: ReturnType<typeof executorWorld>;
let served: Running;
let source: string;
let stop: AbortController;
let working: Promise<void>;
const reports: string[] = [];
beforeEach(async () => {
  world = executorWorld();
  source = world.repository();
  served = await servedJobs(world.jobs, world.artifacts);
  stop = new AbortController();
  working = Promise.resolve();
  reports.length = 0;
});
afterEach(async () => {
  stop.abort();
  await working;
  await served.close();
  world.close();
});

const worker = (handler: JobHandler, leaseMs = 30_000): void => {
  const report = (what: string) => void reports.push(what);
  const about = { workerUrl: served.url ?? '', apiKey: null, queue: 'paint', name: 'painter', leaseMs, report };
  working = runWorker({ ...about, signal: stop.signal }, handler);
};
const run = async (node: Partial<NodeSpec> = {}, more: Partial<NodeReady> = {}) =>
  world.offer(await world.gated({ ...NODE, ...node }, { source: { url: source, ref: 'main' }, ...more }));
const paints = (text: string): Done => ({ files: [{ path: 'colour', text: `${text}\n` }], output: { tins: 2 } });

const post = async (path: string, body: object) => {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${served.url}/v1/worker/${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? null : (JSON.parse(text) as { code: string } & LeasedJob) };
};
const lease = async (): Promise<LeasedJob> => {
  const { body } = await post('leases', { queue: 'paint', worker: 'by-hand', wait_ms: 10_000, lease_ms: 1_000 });
  if (body === null) throw new Error('no job');
  return body;
};

describe('a run that a worker does', () => {
  test('is what the worker sent, checked here like any other', async () => {
    let got: LeasedJob | null = null;
    worker(async (job) => {
      got = job;
      return paints('red');
    });
    await run();
    const report = await world.report();
    expect(report).toMatchObject({ outcome: 'satisfied', rung: 'recipe', output: { tins: 2 }, exit_code: 0 });
    expect(got).toMatchObject({
      ...{ queue: 'paint', epoch: 1, has_workspace: true },
      request: { task: 'r', run: 1, with: { colour: 'red' }, idempotency_key: 'r/n', run_token: 'token' },
    });
    const [, call] = await world.calls();
    expect(call).toMatchObject({ tool: 'recipe', outcome: 'ok', command: 'worker paint {"colour":"red"}' });
    expect(await world.jobs.list(10)).toEqual([]);
  });

  test('does not end well because the worker says so', async () => {
    worker(async () => paints('blue'));
    await run();
    expect(await world.report()).toMatchObject({ outcome: 'unmet', postcondition_met: false, exit_code: 0 });
  });

  test('begins with the files of the workspace, all of them, and takes a patch', async () => {
    let read = '';
    worker(async (_, hand) => {
      for await (const chunk of (await hand.workspace()) ?? []) read += Buffer.from(chunk).toString('latin1');
      return { patch: 'diff --git a/colour b/colour\n--- a/colour\n+++ b/colour\n@@ -1 +1 @@\n-grey\n+red\n' };
    });
    await run();
    expect(read).toContain('grey\n');
    expect(await world.report()).toMatchObject({ outcome: 'satisfied' });
  });

  test('takes what was sent ahead, in pieces, and keeps the executable bit', async () => {
    worker(async (_, hand) => {
      await hand.sendFiles([{ path: 'bin/go', text: '#!/bin/sh\n', executable: true }]);
      await hand.sendFiles([{ path: 'bin/go', base64: Buffer.from('echo red\n').toString('base64'), append: true }]);
      return { files: [{ path: 'colour', delete: true }] };
    });
    await run({ postcondition: commandHolds('test ! -e colour && test "$(bin/go)" = red') });
    expect(await world.report()).toMatchObject({ outcome: 'satisfied' });
  });

  test.each([
    ['out of the workspace', '../colour'],
    ['into the repository', '.git/config'],
    ['through a link', 'link/colour'],
  ])('lets nothing be written %s', async (_, path) => {
    worker(async (_job, hand) => {
      expect(hand.signal.aborted).toBe(false);
      return { files: [{ path, text: 'red\n' }] };
    });
    const recipe = { command: 'ln -s /tmp link' };
    await run({ id: 'before', recipe, postcondition: null });
    const { workspace_ref } = await world.report();
    await run({}, { run: 2, workspace_ref: workspace_ref as NodeReady['workspace_ref'] });
    const report = await world.report(2);
    expect(report).toMatchObject({ outcome: 'unmet', exit_code: null });
    expect((await world.calls(2))[1]).toMatchObject({ tool: 'recipe', outcome: 'failed' });
  });

  test('is unmet when the worker fails, and a fault when the worker’s own machinery did', async () => {
    worker(async (job) => {
      throw job.request.run === 1 ? new Error('no red left') : new WorkerTrouble('no brush');
    });
    await run();
    expect(await world.report()).toMatchObject({ outcome: 'unmet', exit_code: 1 });
    await run({}, { run: 2 });
    expect(await world.report(2)).toMatchObject({ outcome: 'faulted', fault_class: 'lost_worker' });
  });

  test('is lost with the lease of its worker, whose late result is refused', async () => {
    const running = run();
    const { job, epoch } = await lease();
    await running;
    expect(await world.report()).toMatchObject({ outcome: 'faulted', fault_class: 'lost_worker' });
    const late = await post(`jobs/${job}/result`, { epoch, ...paints('red') });
    expect([late.status, late.body?.code]).toEqual([409, 'job_over']);
  });

  test('goes to another worker when one gives it back, and the old one has no say any more', async () => {
    const running = run();
    const { job, epoch } = await lease();
    expect((await post(`jobs/${job}/release`, { epoch })).status).toBe(204);
    worker(async () => paints('red'));
    await running;
    expect(await world.report()).toMatchObject({ outcome: 'satisfied' });
    expect((await post(`jobs/${job}/heartbeat`, { epoch })).body?.code).toBe('job_over');
    expect((await post('jobs/no-such-job/heartbeat', { epoch })).status).toBe(404);
  });

  test('is cancelled where it is worked on, at the next heartbeat', async () => {
    const stopped = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    worker(async (_, hand) => {
      begun.resolve();
      await once(hand.signal, 'abort');
      stopped.resolve();
      return {};
    }, 1_000);
    const deps = world.deps('executor-a');
    const running = world.offer(await world.gated(NODE), deps);
    await begun.promise;
    deps.work.stop({ root: 'r', task: 'r', run: null });
    await stopped.promise;
    await running;
    expect(await world.report()).toMatchObject({ outcome: 'cancelled' });
  });

  test('that no worker asks for ends with its time as a fault', async () => {
    await run({ timeout_ms: 500 });
    expect(await world.report()).toMatchObject({ outcome: 'faulted', fault_class: 'run_timeout' });
  });

  test('has what a worker did for a run whose executor is gone', async () => {
    const shutdown = new AbortController();
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const seen: number[] = [];
    worker(async (job) => {
      seen.push(job.request.run);
      begun.resolve();
      await goOn.promise;
      return paints('red');
    });
    const first = world.offer(await world.gated(NODE), world.deps('executor-a'), shutdown.signal);
    await begun.promise;
    shutdown.abort();
    await first;
    expect(await world.report()).toMatchObject({ outcome: 'faulted', fault_class: 'shutdown' });
    const second = world.offer(await world.gated(NODE, { run: 2 }), world.deps('executor-b'));
    goOn.resolve();
    await second;
    expect(await world.report(2)).toMatchObject({ outcome: 'satisfied' });
    expect(seen).toEqual([1]);
  });

  test('can be done in Python with its standard library alone', async () => {
    const script = fileURLToPath(new URL('../../../examples/worker/worker.py', import.meta.url));
    const env = { PATH: process.env.PATH ?? '', FIXPOINT_WORKER_URL: served.url ?? '', FIXPOINT_QUEUE: 'paint' };
    const python = spawn('python3', [script, '--once'], { env, stdio: 'inherit' });
    const ended = once(python, 'close');
    await run({
      recipe: { worker: 'paint', with: { folder: '.', title: 'Nothing' } },
      postcondition: commandHolds('grep -q Nothing INDEX.md'),
    });
    expect(await ended).toEqual([0, null]);
    expect(await world.report()).toMatchObject({ outcome: 'satisfied', output: { notes: 0 } });
  });
});

describe('the worker API', () => {
  test('is for keys of workers, which can ask nothing else', async () => {
    const guarded = await servedJobs(world.jobs, world.artifacts, ['reader', 'worker']);
    const ask = async (path: string, key: string, queue: string | null = null) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const body = queue === null ? {} : { method: 'POST', body: JSON.stringify({ queue, worker: 'w' }) };
      return (await fetch(`${guarded.url}/v1/worker/${path}`, { headers, ...body })).status;
    };
    try {
      expect(await ask('leases', 'reader', 'paint')).toBe(403);
      expect(await ask('leases', 'worker', 'paint')).toBe(204);
      expect(await ask('leases', 'worker', 'Not a queue')).toBe(400);
      expect(await ask('jobs', 'worker')).toBe(403);
      expect(await ask('jobs', 'reader')).toBe(200);
    } finally {
      await guarded.close();
    }
  });
});
