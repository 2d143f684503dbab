import type { Clock } from '@fixpoint/contracts/clock';
import type { NewEvent } from '@fixpoint/contracts/envelope';
import { eventId } from '@fixpoint/event-store/event-id';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { allVisible } from '@fixpoint/testing/all-visible';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { QueuedRow } from '../waits/wait-rows.ts';
import type { Waits } from '../waits/waits.ts';
import type { Queue, Wanted } from './queue.ts';

export interface QueueUnderTest {
  readonly store: EventStore;
  readonly waits: Waits;
  /** Two replicas on the same rows. */
  readonly queues: readonly [Queue, Queue];
  readonly clock: Pick<Clock, 'now'>;
}

const ALL: Wanted = { each: 100, full: [], paused: [] };

interface Ranked {
  readonly project?: string;
  readonly affinity?: number;
  readonly key?: string;
  readonly providers?: readonly string[];
  readonly agoMs?: number;
  readonly waitsFor?: string;
}

/** The promises of {@link Queue}. */
export const queueContract = (name: string, open: () => Promise<QueueUnderTest>): void => {
  describe(name, () => {
    let subject: QueueUnderTest;
    let causes = 0;

    const say = async (root: string, type: string, data: object, agoMs = 0): Promise<void> => {
      causes += 1;
      const stream = `lineage-${root}`;
      const expectedVersion = (await subject.store.readStream(stream)).length;
      const time = new Date(subject.clock.now().getTime() - agoMs).toISOString();
      const id = eventId({ causeId: `${root} ${causes}`, causeTime: time, handler: 'spec', stream, index: 0 });
      const metadata = { causation_id: 'c', correlation_id: root, producer: 'spec', actor: 'local' };
      const event: NewEvent = { id, type, schema_version: 1, data, metadata, occurred_at: time };
      await subject.store.append({ stream, root, expectedVersion, events: [event] });
    };
    const classOf = (affinity: number): string => (affinity > 0 ? 'high' : affinity === 0 ? 'normal' : 'low');
    const queue = (root: string, more: Ranked = {}, run = 1) => {
      const { project = 'shop', affinity = 0, key, providers = [], agoMs = 1_000 } = more;
      const concurrency = key === undefined ? null : { key, limit: 1 };
      const ranked = { unit: root, project, class: classOf(affinity), affinity, concurrency, providers };
      return say(root, 'node_queued', { task: root, run, ...ranked, queued_for: more.waitsFor ?? 'window' }, agoMs);
    };
    const start = (root: string, project = 'shop', run = 1) =>
      say(root, 'node_ready', { task: root, run, scope: { project } });
    const keep = async (): Promise<void> => {
      await allVisible(subject.store);
      for (let round = 0; round < 5; round += 1) await subject.waits.keep(AbortSignal.abort());
    };
    const names = (rows: readonly QueuedRow[]): string[] => rows.map(({ root }) => root).sort();
    const found = async (wanted: Partial<Wanted> = {}): Promise<readonly QueuedRow[]> =>
      subject.queues[0].startable({ ...ALL, ...wanted });
    const row = async (root: string): Promise<QueuedRow> => {
      const one = (await found()).find((each) => each.root === root);
      if (one === undefined) throw new Error(`${root} can not start`);
      return one;
    };

    beforeEach(async () => {
      subject = await open();
    });

    test('never starts what waits for money: more of it starts that itself', async () => {
      await queue('a', { waitsFor: 'budget' });
      await queue('b');
      await keep();
      expect(names(await found())).toEqual(['b']);
    });

    test('shows what waits until it starts or its task ends', async () => {
      for (const root of ['a', 'b', 'c']) await queue(root);
      await keep();
      expect(names(await found())).toEqual(['a', 'b', 'c']);
      await start('a');
      await say('b', 'task_blocked', { task: 'b', run: 1 });
      await keep();
      expect(names(await found())).toEqual(['c']);
    });

    test('counts what is in flight and what waits, by project, up to a place in the log', async () => {
      await queue('a');
      await queue('b', { project: 'lab' });
      await start('c');
      await keep();
      const { projects, length, upTo } = await subject.queues[1].standing();
      const sum = (of: 'running' | 'queued', project: string) =>
        projects.filter((each) => each.project === project).reduce((total, each) => total + each[of], 0);
      expect([sum('running', 'shop'), sum('queued', 'shop'), sum('queued', 'lab'), length]).toEqual([1, 1, 1, 2]);
      const { events } = await subject.store.readAll(upTo, 10);
      expect(events).toEqual([]);
    });

    test('U-T06 never shows a unit below what is viable, and shows one that stands exactly there', async () => {
      await queue('deep', { affinity: -6 });
      await queue('edge', { affinity: -5 });
      await keep();
      expect(names(await found())).toEqual(['edge']);
    });

    test('shows a unit again as soon as it is lifted, in the class of its new rank', async () => {
      await queue('deep', { affinity: -15 });
      await keep();
      expect(await found()).toEqual([]);
      await say('deep', 'affinity_changed', { task: 'deep', from: -15, to: 3 });
      await keep();
      expect(await found()).toMatchObject([{ root: 'deep', affinity: 3, class: 'high' }]);
    });

    test('shows the first of each class and project: by rank, then by age', async () => {
      await queue('young', { agoMs: 1_000 });
      await queue('old', { agoMs: 9_000 });
      await queue('ranked', { affinity: 2 });
      await queue('higher', { affinity: 7 });
      await queue('other', { project: 'lab' });
      await keep();
      expect(names(await found({ each: 1 }))).toEqual(['higher', 'old', 'other']);
    });

    test('leaves out full projects and paused providers', async () => {
      await queue('a');
      await queue('b', { project: 'lab', providers: ['git.github.com'] });
      await queue('c', { project: 'lab', providers: ['model.default'] });
      await keep();
      expect(names(await found({ full: ['shop'] }))).toEqual(['b', 'c']);
      expect(names(await found({ paused: ['model.default'] }))).toEqual(['a', 'b']);
    });

    test('shows how providers stand that were ever paused', async () => {
      const [at, host] = ['2026-01-01T00:00:00.000Z', { provider: 'git.a' }];
      const probe = { root: 'r', task: 'r', run: 2 };
      const standing = async () => {
        await keep();
        return (await subject.queues[1].providers()).map(({ since: _, event: __, ...row }) => row);
      };
      expect(await standing()).toEqual([]);
      await say('p', 'provider_paused', { ...host, until: at });
      await say('q', 'provider_paused', { provider: 'model.b', until: null });
      const human = { provider: 'model.b', version: 1, status: 'paused', paused_until: null, probe: null };
      const paused = { ...host, version: 1, status: 'paused', paused_until: at, probe: null };
      expect(await standing()).toEqual([paused, human]);
      await say('p', 'provider_probed', { ...host, probe });
      expect(await standing()).toContainEqual({ ...paused, version: 2, status: 'probing', paused_until: null, probe });
      await say('p', 'provider_resumed', { ...host, probe });
      expect(await standing()).toContainEqual({ ...paused, version: 3, status: 'open', paused_until: null });
      await say('q', 'provider_retry_asked', { provider: 'model.b', asked_at: at });
      expect(await standing()).toContainEqual({ ...human, version: 2, paused_until: at });
      await say('q', 'provider_paused', { provider: 'model.b', until: 'tomorrow' });
      expect(await standing()).toContainEqual({ ...human, version: 2, paused_until: at });
    });

    test('U-T26 gives a row to one replica only, and to others again when it is given back', async () => {
      for (let n = 0; n < 20; n += 1) await queue(`r${n}`);
      await keep();
      const rows = await found();
      const [one, other] = subject.queues;
      const claimed = (await Promise.all([one.claim(rows), other.claim(rows)])).flat();
      expect(claimed).toHaveLength(20);
      expect(await found()).toEqual([]);
      await one.release(claimed);
      expect(await found()).toHaveLength(20);
    });

    test('B15 grants the slots of a key exactly, and keeps them until the log shows that the run is over', async () => {
      for (const root of ['a', 'b', 'c']) await queue(root, { key: 'deploy' });
      await keep();
      const [a, b] = [await row('a'), await row('b')];
      const [one, other] = subject.queues;
      const taken = await Promise.all([one.takeSlot(a), other.takeSlot(b)]);
      expect(taken.filter(Boolean)).toHaveLength(1);
      const holder = taken[0] ? a : b;
      const rest = taken[0] ? b : a;
      expect(await other.takeSlot(holder)).toBe(true);
      expect(await found()).toEqual([]);
      await start(holder.root);
      await keep();
      await other.freeSlots();
      expect(await one.takeSlot(rest)).toBe(false);
      await say(holder.root, 'task_completed', { task: holder.root });
      await keep();
      await one.freeSlots();
      expect(await other.takeSlot(rest)).toBe(true);
    });

    test('B15 frees the slot of a run that was stopped before it started', async () => {
      for (const root of ['a', 'b']) await queue(root, { key: 'deploy' });
      await keep();
      const [queue1] = subject.queues;
      const [a, b] = [await row('a'), await row('b')];
      await queue1.takeSlot(a);
      await queue1.freeSlots();
      expect(await queue1.takeSlot(b)).toBe(false);
      await say('a', 'task_blocked', { task: 'a', run: 1 });
      await keep();
      await queue1.freeSlots();
      expect(await queue1.takeSlot(b)).toBe(true);
    });

    test('remembers for all replicas whose turn it was', async () => {
      const [one, other] = subject.queues;
      await one.served(['shop', 'lab', 'shop']);
      await other.served(['lab']);
      expect(await one.turns()).toEqual({
        projects: new Map([
          ['shop', 3],
          ['lab', 4],
        ]),
        total: 4,
      });
    });
  });
};
