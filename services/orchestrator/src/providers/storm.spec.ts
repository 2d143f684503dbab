import { providerStream } from '@fixpoint/contracts/streams';
import { describe, expect, test } from '@jest/globals';
import { nodeSpec, taskSpec } from '../domain/lineage/lineage.fixture.ts';
import { World } from '../orchestrator.fixture.ts';

const HOST = 'git.git.example.org';
const fetching = () => ({
  ...taskSpec(),
  workspace: { git: { url: 'https://git.example.org/shop.git', ref: 'main' }, keep: [] },
});

const submit = async (world: World, roots: readonly string[]): Promise<void> => {
  for (const root of roots) await world.submit(root, fetching());
};

const count = async (world: World, root: string, type: string): Promise<number> =>
  (await world.types(root)).filter((each) => each === type).length;

const started = async (world: World, roots: readonly string[]): Promise<string[]> => {
  const counts = await Promise.all(roots.map((root) => count(world, root, 'node_ready')));
  return roots.filter((_, index) => (counts[index] ?? 0) > 0);
};

const told = async (world: World): Promise<string[]> =>
  (await world.store.readStream(providerStream(HOST))).map(({ type }) => type);

const dead = { outcome: 'faulted', fault_class: 'network', postcondition_met: null } as const;
const meetsFault = async (world: World, root: string): Promise<void> => {
  await world.hear(await world.end(dead, root));
};

const FIRST = ['a', 'b', 'c', 'd', 'e'];
const LATER = ['f', 'g', 'h'];

/** Five lineages have met a dead host, and three others came later. */
const storm = async (): Promise<World> => {
  const world = new World();
  await submit(world, FIRST);
  for (const root of FIRST) await meetsFault(world, root);
  await world.dispatch();
  await submit(world, LATER);
  await world.dispatch();
  return world;
};

/** The run that probes, after the pause. */
const probeAfter = async (world: World, ms: number): Promise<string> => {
  const before = await started(world, LATER);
  await world.clock.advance(ms);
  for (let round = 0; round < 3; round += 1) await world.dispatch();
  const [probe, ...others] = (await started(world, LATER)).filter((root) => !before.includes(root));
  expect(others).toEqual([]);
  if (probe === undefined) throw new Error('nobody probes');
  return probe;
};

/** The next pause is over, and whoever probes then finds the host as dead as before. */
const probeInVain = async (world: World, waiting: readonly string[]): Promise<void> => {
  const before = await started(world, waiting);
  await world.clock.advance(15 * 60_000);
  await world.dispatch();
  const [probe = ''] = (await started(world, waiting)).filter((root) => !before.includes(root));
  await meetsFault(world, probe);
  await world.dispatch();
};

describe('a storm of faults of one host', () => {
  test('B19 pauses it once, and what needs it waits in the queue for it and holds no slot', async () => {
    const world = await storm();
    expect(await told(world)).toEqual([...FIRST.map(() => 'provider_faulted'), 'provider_paused']);
    expect(await started(world, LATER)).toEqual([]);
    expect(world.providers.counts()).toEqual({ open: 0, paused: 1, probing: 0, human: 0 });
    expect(await world.newest('node_queued', 'f')).toMatchObject({ queued_for: 'provider', providers: [HOST] });
    const { length, projects } = await world.queue.standing();
    expect([length, projects]).toEqual([3, []]);
  });

  test('leaves alone what does not need it', async () => {
    const world = await storm();
    await world.submit('z');
    expect(await world.types('z')).toEqual(['task_submitted', 'node_ready']);
  });

  test('ends when the one run that probes it meets no fault: all others start', async () => {
    const world = await storm();
    const probe = await probeAfter(world, 15_000);
    expect((await told(world)).at(-1)).toBe('provider_probed');
    await world.hear(await world.end({}, probe));
    await world.hear(await world.judge(probe));
    await world.dispatch();
    await world.dispatch();
    expect((await told(world)).at(-1)).toBe('provider_resumed');
    expect(await started(world, LATER)).toEqual(LATER);
  });

  test('ends as soon as the probe runs a command, long before it is done', async () => {
    const world = await storm();
    const probe = await probeAfter(world, 15_000);
    await world.hear(await world.start(probe), await world.call(probe));
    await world.dispatch();
    await world.dispatch();
    expect(await started(world, LATER)).toEqual(LATER);
  });

  test('goes on for twice as long when the probe meets one, and takes nothing from its unit', async () => {
    const world = await storm();
    const probe = await probeAfter(world, 15_000);
    await meetsFault(world, probe);
    await world.dispatch();
    expect(await world.newest('fault_recorded', probe)).toMatchObject({ count: 1, count_at_last_evidence: 1 });
    const paused = (await world.store.readStream(providerStream(HOST))).at(-1);
    expect(paused).toMatchObject({ type: 'provider_paused', data: { count: 2, reason: 'probe_failed' } });
    await world.clock.advance(29_999);
    await world.dispatch();
    expect(await started(world, LATER)).toEqual([probe]);
    expect(await probeAfter(world, 1)).not.toBe(probe);
  });

  test('U-T30 is probed by one run, however many dispatchers look', async () => {
    const world = await storm();
    await world.clock.advance(15_000);
    await Promise.all([world.dispatch(), world.dispatch(), world.dispatch()]);
    expect(await started(world, LATER)).toHaveLength(1);
  });

  test('does not end with a probe that is cancelled: it said nothing', async () => {
    const world = await storm();
    const probe = await probeAfter(world, 15_000);
    await world.cancel(probe);
    await world.dispatch();
    expect((await world.store.readStream(providerStream(HOST))).at(-1)).toMatchObject({
      ...{ type: 'provider_paused', data: { reason: 'probe_failed', class: 'network', count: 2 } },
    });
  });

  test('is a human’s in the end, once, who may have it tried at any time', async () => {
    const world = await storm();
    const more = ['i', 'j', 'k', 'l', 'm', 'n'];
    const waiting = [...LATER, ...more];
    await submit(world, more);
    for (let pauses = 1; pauses <= 7; pauses += 1) await probeInVain(world, waiting);
    const paused = (await world.store.readStream(providerStream(HOST))).filter(
      ({ type }) => type === 'provider_paused',
    );
    expect(paused.map(({ data }) => (data as { until: string | null }).until !== null)).toEqual([
      ...Array.from({ length: 7 }, () => true),
      false,
    ]);
    for (const root of waiting) expect(await count(world, root, 'human_required')).toBe(0);
    expect(world.providers.counts()).toEqual({ open: 0, paused: 0, probing: 0, human: 1 });
    await world.clock.advance(24 * 3_600_000);
    const before = await started(world, waiting);
    await world.dispatch();
    expect(await started(world, waiting)).toEqual(before);
    const asked = await world.providers.retry(HOST, { reason: 'it is back', actor: 'ann' });
    expect(asked).toMatchObject({ type: 'provider_retry_asked', metadata: { actor: 'ann' } });
    expect(await world.providers.retry(HOST, { reason: 'again', actor: 'ann' })).not.toBeNull();
    await world.dispatch();
    expect(await started(world, waiting)).toHaveLength(before.length + 1);
    expect(await world.providers.retry(HOST, { reason: 'again', actor: 'ann' })).toBeNull();
  });
});

describe('a model that says who it is', () => {
  const MODEL = 'model.smart';
  const asking = () => taskSpec([nodeSpec({ model: 'smart', max_repair_attempts: 1 })]);
  const limited = (retry_after_ms: number) => ({
    ...dead,
    fault_class: 'rate_limit' as const,
    provider_fault: { provider: MODEL, retry_after_ms },
  });
  const pauses = async (world: World) =>
    (await world.store.readStream(providerStream(MODEL))).filter(({ type }) => type === 'provider_paused');

  test('I-T25 is paused for as long as it asks, also by its probe', async () => {
    const world = new World();
    for (const root of FIRST) await world.submit(root, asking());
    for (const root of FIRST) await world.hear(await world.end(limited(60_000), root));
    await world.dispatch();
    for (const root of LATER) await world.submit(root, asking());
    const [first] = await pauses(world);
    expect(first?.data).toMatchObject({ class: 'rate_limit', until: '2026-01-01T00:01:00.000Z' });
    const probe = await probeAfter(world, 60_000);
    const end = await world.end(limited(3_000_000), probe);
    await world.hear(end);
    await world.dispatch();
    expect((await pauses(world)).at(-1)?.data).toMatchObject({ count: 2, until: '2026-01-01T00:51:00.000Z' });
  });

  test('is told from the log when the process that recorded the fault of the probe is gone', async () => {
    const world = new World();
    for (const root of FIRST) await world.submit(root, asking());
    for (const root of FIRST) await world.hear(await world.end(limited(0), root));
    await world.dispatch();
    for (const root of LATER) await world.submit(root, asking());
    const probe = await probeAfter(world, 15_000);
    world.providers.note = () => undefined;
    await world.hear(await world.end(limited(0), probe));
    const successor = world.successor();
    await successor.look();
    expect((await pauses(world)).at(-1)?.data).toMatchObject({ class: 'rate_limit', count: 2 });
  });
});

test('a process that is new knows what is paused from the log alone', async () => {
  const world = await storm();
  const successor = world.successor();
  await successor.look();
  expect(successor.paused()).toEqual([HOST]);
  expect([...successor.due()]).toEqual([]);
});

test('nobody can have tried what was never paused', async () => {
  await expect(new World().providers.retry('git.nowhere', { reason: '', actor: 'ann' })).rejects.toThrow(
    'provider_unknown',
  );
});
