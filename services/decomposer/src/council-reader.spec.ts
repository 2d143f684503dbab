import type { Clock } from '@fixpoint/contracts/clock';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { builtInMode } from '@fixpoint/documents/built-in-protocol';
import { memoryArtifacts } from '@fixpoint/event-store/memory-artifacts';
import { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import type { Workspaces } from '@fixpoint/execution/workspaces';
import type { Publication } from '@fixpoint/messaging/bus';
import { memoryLeases } from '@fixpoint/messaging/memory-leases';
import { ownedWork } from '@fixpoint/messaging/owned-work';
import { CouncilFault, type CouncilModel, type CouncilQuestion } from '@fixpoint/models/council-model';
import { describe, expect, test } from '@jest/globals';
import { requestOf } from './council.fixture.ts';
import { councilReader } from './council-reader.ts';
import { partOf, sliceOf } from './domain/slices.fixture.ts';
import { structuralCouncil } from './structural/structural-council.ts';

type Data = ReturnType<typeof requestOf>;

const asked = (data: Partial<Data> = {}): RecordedEvent => ({
  id: `019b7ca3-9e0e-8000-8000-00000000000${data.request ?? 1}`,
  ...{ root: 'r1', stream: 'lineage-r1', version: 7, cursor: { epoch: 1, xid: '7', position: '7' } },
  ...{ type: 'decomposition_requested', schema_version: 2, data: requestOf(data) },
  metadata: { causation_id: 'c', correlation_id: 'r1', producer: 'orchestrator__decide', actor: 'ann' },
  ...{ occurred_at: '2026-01-02T03:04:05.006Z', hash: '0'.repeat(64) },
});

/** Sleeps until it is told to: no test waits for time. */
const clockOf = (): Clock & { ring(): void } => {
  const sleepers: (() => void)[] = [];
  return {
    now: () => new Date('2026-01-02T03:04:06Z'),
    monotonicMs: () => 0,
    sleep: (_ms, signal) =>
      new Promise((resolve) => {
        sleepers.push(resolve);
        signal?.addEventListener('abort', () => resolve(), { once: true });
      }),
    ring: () => {
      for (const wake of sleepers.splice(0)) wake();
    },
  };
};

/** No request of these tests has a workspace. */
const noWorkspaces = {} as Workspaces;

const free = { money_micros: 0, tokens: 0 };

/** A model that says what it is told to, in this order. */
const speaking = (...said: readonly unknown[]): CouncilModel & { readonly questions: CouncilQuestion[] } => {
  const questions: CouncilQuestion[] = [];
  const rest = [...said];
  const next = async () => {
    const one = rest.shift();
    if (one instanceof Error) throw one;
    return { said: one, spent: { money_micros: 10, tokens: 20 } };
  };
  return {
    name: 'double',
    questions,
    direction: (question) => {
      questions.push(question);
      return next();
    },
    review: () => next(),
  };
};

const good = {
  ...{ slices: [sliceOf('api'), sliceOf('web')], lens: 'architecture' },
  ...{ reasoning: 'two layers', confidence: 'medium' },
};
const approved = { verdict: 'approve', confidence: 'high', reasons: [] };
const doubted = { verdict: 'revise', confidence: 'low', reasons: ['web is not covered'] };

const world = (model: CouncilModel | null = structuralCouncil) => {
  const store = new MemoryEventStore();
  const published: Publication[] = [];
  const clock = clockOf();
  const leases = memoryLeases(clock);
  const stopped = new Set<string>();
  let uuids = 0;
  const replica = (owner: string, asks: CouncilModel | null = model) => {
    const hasEnded = async ({ task }: { task: string }) => stopped.has(task);
    const work = ownedWork({ leases, clock, owner, hasEnded, concurrency: 4 });
    const reader = councilReader({
      ...{ store, clock, timer: clock, work, model: asks, workspaces: noWorkspaces, copiesFolder: '/nowhere' },
      findDocuments: async () => [],
      artifacts: memoryArtifacts(),
      modeOf: async () => builtInMode,
      publisher: { publish: (more) => void published.push(...more), settled: () => Promise.resolve() },
      ids: { uuid: () => `uuid-${++uuids}` },
      deadLetter: () => Promise.resolve(),
    });
    const offer = (event: RecordedEvent, signal = new AbortController().signal) =>
      reader.handle([{ event, nodeReady: null }], signal).then(([verdict]) => verdict);
    return { offer, work };
  };
  const stored = async (request = 1) => (await store.readStream(`council-r1-${request}`)).map(({ type }) => type);
  const last = async () => (await store.readStream('council-r1-1')).at(-1)?.data;
  return { store, published, clock, leases, stopped, replica, stored, last, ...replica('a') };
};

const publishedTypes = (published: readonly Publication[]) =>
  published.map(({ offer, reoffer }) => [offer.event.type, reoffer]);

const SPLIT = ['council_convened', 'slicing_proposed', 'split_reviewed', 'split_decided'];

describe('council reader', () => {
  test('H-T01 H-T65 splits along declared parts: every step is stored, the decision is published', async () => {
    const { offer, stored, last, published, store } = world();
    expect(await offer(asked({ declared_parts: [partOf('api'), partOf('web')] }))).toEqual({ verdict: 'done' });
    expect(await stored()).toEqual(SPLIT);
    expect(await last()).toMatchObject({
      should_decompose: true,
      adapter: 'structural',
      slices: [{ name: 'api' }, { name: 'web' }],
    });
    expect(publishedTypes(published)).toEqual([['split_decided', '']]);
    const [first] = await store.readStream('council-r1-1');
    expect(first).toMatchObject({ root: 'r1', metadata: { causation_id: asked().id, actor: 'ann' } });
  });

  test('declines what it can not cut', async () => {
    const { offer, stored, last } = world();
    await offer(asked());
    expect(await stored()).toEqual(['council_convened', 'slicing_proposed', 'split_decided']);
    expect(await last()).toMatchObject({ should_decompose: false, confidence: 'high' });
  });

  test('H-T36 without a council declines at once', async () => {
    const { offer, stored, last } = world(null);
    await offer(asked());
    expect(await stored()).toEqual(['council_convened', 'split_decided']);
    expect(await last()).toMatchObject({ reason: 'no_council', adapter: null });
  });

  test('asks nobody where no child may be made', async () => {
    const model = speaking(good);
    const { offer, last } = world(model);
    await offer(asked({ budget: { children_left: 1, depth_left: 2, time_ms: 1000, money_micros: 0, tokens: 0 } }));
    expect(await last()).toMatchObject({ reason: 'no_children_left' });
    expect(model.questions).toEqual([]);
  });

  test('publishes the stored answer again when it is asked again, and stores nothing', async () => {
    const { offer, stored, published } = world();
    await offer(asked());
    await offer(asked());
    expect(await stored()).toHaveLength(3);
    expect(publishedTypes(published)).toEqual([
      ['split_decided', ''],
      ['split_decided', 'uuid-1'],
    ]);
  });

  test('is asked by one of two replicas that are offered the same', async () => {
    const model = speaking(good, approved, good, approved);
    const { replica, stored } = world(model);
    await Promise.all([replica('x').offer(asked()), replica('y').offer(asked())]);
    expect(model.questions).toHaveLength(1);
    expect(await stored()).toEqual(SPLIT);
  });

  test('gives each request a stream of its own', async () => {
    const { offer, stored } = world();
    await offer(asked());
    await offer(asked({ request: 2 }));
    expect(await stored(2)).toHaveLength(3);
  });

  test('goes on where another one stopped, and asks nothing twice', async () => {
    const stop = new AbortController();
    const first = speaking(good);
    const halting: CouncilModel = {
      ...first,
      review: (_question, signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')));
          stop.abort();
        }),
    };
    const { replica, stored } = world();
    expect(await replica('x', halting).offer(asked(), stop.signal)).toMatchObject({ verdict: 'later' });
    expect(await stored()).toEqual(['council_convened', 'slicing_proposed']);
    const second = speaking(approved);
    await replica('y', second).offer(asked());
    expect(second.questions).toEqual([]);
    expect(await stored()).toEqual(SPLIT);
  });

  test('in doubt asks the whole pair once more, tells what was objected to, and accounts for all of it', async () => {
    const model = speaking(good, doubted, good, approved);
    const { offer, last } = world(model);
    await offer(asked());
    expect(model.questions.map(({ objections }) => objections)).toEqual([[], ['web is not covered']]);
    expect(await last()).toMatchObject({ should_decompose: true, spent: { money_micros: 40, tokens: 80 } });
  });

  test('H-T02 believes a rejection that is certain', async () => {
    const { offer, stored, last } = world(
      speaking(good, { verdict: 'reject', confidence: 'high', reasons: ['clones'] }),
    );
    await offer(asked());
    expect(await stored()).toEqual(SPLIT);
    expect(await last()).toMatchObject({ should_decompose: false, reason: 'clones' });
  });

  test('lets nobody review what the checks object to, and says it to whoever proposes again', async () => {
    const vacuous = sliceOf('web', {
      nodes: sliceOf('web').nodes.map((node) => ({
        ...node,
        postcondition: { all: [{ command: 'true', timeout_ms: 1 }] },
      })),
    });
    const model = speaking({ ...good, slices: [sliceOf('api'), vacuous] }, good, approved);
    const { offer, stored } = world(model);
    await offer(asked());
    expect(await stored()).toEqual(['council_convened', 'slicing_proposed', ...SPLIT.slice(1)]);
    expect(model.questions[1]?.objections[0]).toContain('web: ');
  });

  test.each([
    ['H-T04 a garbled direction', [{ slices: 'all of it' }]],
    ['H-T05 a garbled review', [good, 'sure!']],
    ['no answer at all', [undefined]],
  ])('%s is the machinery’s fault and says nothing about the unit', async (_, said) => {
    const { offer, stored, last } = world(speaking(...said));
    expect(await offer(asked())).toEqual({ verdict: 'done' });
    expect((await stored()).at(-1)).toBe('council_faulted');
    expect(await last()).toMatchObject({ class: 'internal', detail: expect.stringContaining('can not be read') });
  });

  test('H-T31 a provider that refuses is a fault of its own class, with the time it asks for', async () => {
    const { offer, last, published } = world(
      speaking(new CouncilFault('rate_limit', 'come back later', { retryAfterMs: 60_000 })),
    );
    await offer(asked());
    expect(await last()).toMatchObject({ class: 'rate_limit', retry_after_ms: 60_000 });
    expect(publishedTypes(published)).toEqual([['council_faulted', '']]);
  });

  test('C10 stops asking when what the request may cost is used up', async () => {
    const model = speaking(good, approved);
    const { offer, last } = world(model);
    await offer(asked({ budget: { children_left: 8, depth_left: 2, time_ms: 1000, money_micros: 5, tokens: 1000 } }));
    expect(await last()).toMatchObject({ should_decompose: false, reason: 'budget_used_up' });
  });

  /** A model that answers nothing until it is told to stop. */
  const silent = () => {
    let begun = (): void => undefined;
    const asking = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const direction: CouncilModel['direction'] = (_question, signal) => {
      begun();
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
    };
    return { asking, model: { name: 'silent', direction, review: async () => ({ said: null, spent: free }) } };
  };

  test('a model that is slow is stopped inside the time of its request', async () => {
    const { asking, model } = silent();
    const { offer, clock, last } = world(model);
    const answered = offer(asked());
    await asking;
    clock.ring();
    expect(await answered).toEqual({ verdict: 'done' });
    expect(await last()).toMatchObject({ class: 'run_timeout' });
  });

  test('a task that ends stops its council, which then says nothing', async () => {
    const { asking, model } = silent();
    const { offer, work, stored } = world(model);
    const answered = offer(asked());
    await asking;
    work.stop({ root: 'r1', task: 'r1', run: null });
    expect(await answered).toEqual({ verdict: 'done' });
    expect(await stored()).toEqual(['council_convened']);
  });

  test('H-B05 nothing is asked about a task that has ended', async () => {
    const model = speaking(good);
    const { offer, stopped, stored } = world(model);
    stopped.add('r1');
    expect(await offer(asked())).toEqual({ verdict: 'done' });
    expect(await stored()).toEqual([]);
    expect(model.questions).toEqual([]);
  });

  test.each([
    ['a store that does not answer', new Error('connection lost')],
    ['a bug', new TypeError('undefined is not a function')],
  ])('leaves it to the reader’s loop to tell what %s means', async (_name, error) => {
    const { store, offer } = world();
    store.readStream = () => Promise.reject(error);
    await expect(offer(asked())).rejects.toBe(error);
  });

  test('comes again when others were faster every time, without blaming the request', async () => {
    const { store, published, offer } = world();
    store.appendAll = async (appends) => appends.map(() => ({ outcome: 'conflict' }));
    expect(await offer(asked())).toMatchObject({ verdict: 'later', delayMs: 100 });
    expect(published).toEqual([]);
  });

  test('fails on a request that it cannot read', async () => {
    const { published, offer } = world();
    expect(await offer(asked({ request: 0 }))).toMatchObject({ verdict: 'failed' });
    expect(await offer({ ...asked(), schema_version: 99 })).toMatchObject({
      verdict: 'failed',
      error: expect.stringContaining('event_version_unknown'),
    });
    expect(published).toEqual([]);
  });
});
