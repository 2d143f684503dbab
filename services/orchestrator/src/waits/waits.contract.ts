import type { Clock } from '@fixpoint/contracts/clock';
import type { NewEvent } from '@fixpoint/contracts/envelope';
import { eventId } from '@fixpoint/event-store/event-id';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { allVisible } from '@fixpoint/testing/all-visible';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Waits } from './waits.ts';

export interface WaitsUnderTest {
  readonly store: EventStore;
  /** Two replicas on the same rows. */
  readonly waits: readonly [Waits, Waits];
  /** What the rows are compared with. */
  readonly clock: Pick<Clock, 'now'>;
}

const HOUR_MS = 3_600_000;

/** The promises of {@link Waits}. */
export const waitsContract = (name: string, open: () => Promise<WaitsUnderTest>): void => {
  describe(name, () => {
    let subject: WaitsUnderTest;
    let causes = 0;
    const stopped = AbortSignal.abort();

    const say = async (root: string, type: string, data: object, agoMs = 0): Promise<void> => {
      causes += 1;
      const stream = `lineage-${root}`;
      const expectedVersion = (await subject.store.readStream(stream)).length;
      const time = new Date(subject.clock.now().getTime() - agoMs).toISOString();
      const id = eventId({ causeId: `${root} ${causes}`, causeTime: time, handler: 'spec', stream, index: 0 });
      const metadata = { causation_id: 'c', correlation_id: root, producer: 'spec', actor: 'local' };
      const event: NewEvent = { id, type, schema_version: 1, data, metadata, occurred_at: time };
      const outcome = await subject.store.append({ stream, root, expectedVersion, events: [event] });
      expect(outcome.outcome).toBe('appended');
    };
    const ready = (root: string, agoMs: number, run = 1) => say(root, 'node_ready', { task: root, run }, agoMs);
    const keep = async (): Promise<void> => {
      await allVisible(subject.store);
      for (let round = 0; round < 5; round += 1) await subject.waits[0].keep(stopped);
    };
    const at = (inMs: number): string => new Date(subject.clock.now().getTime() + inMs).toISOString();

    beforeEach(async () => {
      subject = await open();
    });

    test('offers only what is due', async () => {
      await ready('old', HOUR_MS);
      await ready('new', 0);
      await keep();
      expect((await subject.waits[0].claimWaiting(10)).map(({ root }) => root)).toEqual(['old']);
    });

    test('gives a row to one replica only', async () => {
      for (let n = 0; n < 20; n += 1) await ready(`r${n}`, HOUR_MS);
      await keep();
      const [one, other] = subject.waits;
      const claimed = (await Promise.all([one.claimWaiting(15), other.claimWaiting(15)])).flat();
      expect(new Set(claimed.map(({ root }) => root)).size).toBe(20);
      expect(claimed).toHaveLength(20);
      expect(await one.claimWaiting(10)).toEqual([]);
    });

    test('looks again when it was told to, and remembers the offers', async () => {
      await ready('r', HOUR_MS);
      await keep();
      const [row] = await subject.waits[0].claimWaiting(1);
      if (!row) throw new Error('nothing was due');
      const last_offer = at(0);
      await subject.waits[0].reschedule(row, { reoffers: 1, last_offer, next_at: at(-1) });
      expect(await subject.waits[1].claimWaiting(1)).toMatchObject([{ root: 'r', reoffers: 1, last_offer, run: 1 }]);
    });

    test('leaves a row alone that has moved on', async () => {
      await ready('r', HOUR_MS);
      await keep();
      const [row] = await subject.waits[0].claimWaiting(1);
      await ready('r', HOUR_MS / 2, 2);
      await keep();
      if (row) await subject.waits[0].reschedule(row, { reoffers: 9, last_offer: at(0), next_at: null });
      expect(await subject.waits[0].claimWaiting(1)).toMatchObject([{ run: 2, reoffers: 0 }]);
    });

    test('leaves a row alone whose run has started meanwhile', async () => {
      await ready('r', 3 * HOUR_MS);
      await say('r', 'governance_passed', { task: 'r', run: 1 }, 2 * HOUR_MS);
      await keep();
      const [row] = await subject.waits[0].claimWaiting(1);
      await say('r', 'action_started', { task: 'r', run: 1 }, HOUR_MS);
      await keep();
      if (row) await subject.waits[0].reschedule(row, { reoffers: 9, last_offer: at(0), next_at: null });
      expect(await subject.waits[0].claimWaiting(1)).toMatchObject([{ kind: 'action', started: true, reoffers: 0 }]);
    });

    test('keeps what an event says exactly', async () => {
      await ready('r', HOUR_MS);
      await keep();
      const since = at(-HOUR_MS).slice(0, 16);
      const [row] = await subject.waits[0].claimWaiting(1);
      expect(row).toMatchObject({
        task: 'r',
        kind: 'gate',
        started: false,
        stream: 'lineage-r',
        version: 1,
        ready_version: 1,
      });
      expect(row?.since.slice(0, 16)).toBe(since);
    });

    test('rings a timer that is due, for one replica, until it has done its work', async () => {
      await ready('r', 0);
      await say('r', 'fault_recorded', { task: 'r', run: 1, phase: 'gate', next_at: at(-1) });
      await say('r', 'fault_recorded', { task: 'r', run: 2, phase: 'gate', next_at: at(HOUR_MS) });
      await keep();
      const [one, other] = subject.waits;
      const claimed = (await Promise.all([one.claimTimers(5), other.claimTimers(5)])).flat();
      expect(claimed).toMatchObject([{ id: 'r:retry:1', root: 'r', kind: 'retry', number: 1 }]);
      if (claimed[0]) await one.fired(claimed[0]);
      expect(await one.claimTimers(5)).toEqual([]);
    });

    test('forgets a lineage that has ended', async () => {
      await say('r', 'task_submitted', { task: 'r', deadline_at: at(-1) });
      await ready('r', HOUR_MS);
      await keep();
      await say('r', 'task_completed', { task: 'r' });
      await keep();
      expect(await subject.waits[0].claimWaiting(5)).toEqual([]);
      expect(await subject.waits[0].claimTimers(5)).toEqual([]);
    });
  });
};
