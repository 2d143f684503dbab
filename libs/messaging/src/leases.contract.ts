import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { LeaseKey, Leases, LeaseTaken } from './lease.ts';

export interface LeasesWorld {
  readonly leases: Leases;
  /** The time by which leases expire. */
  now(): Promise<Date>;
  /** Resolves when that time has gone on by `ms`. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

const TTL_MS = 400;
/** Longer than any test. */
const LONG_MS = 100_000;

/** What leases promise, wherever they are kept. */
export const leasesContract = (open: () => Promise<LeasesWorld>): void => {
  let world: LeasesWorld;
  beforeEach(async () => {
    world = await open();
  });
  afterEach(() => world.close());

  const key: LeaseKey = { stream: 'action-task-1', phase: 'action' };
  const take = (owner: string, on: LeaseKey = key, ttlMs = TTL_MS): Promise<LeaseTaken> =>
    world.leases.take({ ...on, owner, ttlMs });

  describe('a lease', () => {
    test('that is free is taken', async () => {
      expect(await take('here')).toEqual({ lease: 'taken' });
    });

    test('that somebody has is refused, with the holder and the end', async () => {
      const before = await world.now();
      await take('here', key, LONG_MS);
      const refused = await take('there');
      expect(refused).toMatchObject({ lease: 'held', heldBy: 'here' });
      const endsInMs = refused.lease === 'held' ? refused.expiresAt.getTime() - before.getTime() : Number.NaN;
      expect(endsInMs).toBeGreaterThanOrEqual(LONG_MS - 1);
      expect(endsInMs).toBeLessThan(LONG_MS + 30_000);
    });

    test('is for one stream and phase, whatever they are called', async () => {
      await take('here', { stream: 'a b', phase: 'c' });
      expect(await take('there', { stream: 'a', phase: 'b c' })).toEqual({ lease: 'taken' });
      expect(await take('there', { stream: 'a b', phase: 'd' })).toEqual({ lease: 'taken' });
    });

    test('that is the own one already is taken again, and its time begins anew', async () => {
      await take('here', key, LONG_MS);
      expect(await take('here')).toEqual({ lease: 'taken' });
      await world.pass(TTL_MS);
      expect(await take('there')).toEqual({ lease: 'taken' });
    });

    test('U-T41 that is over and that nobody has taken is overdue, until it is taken or released', async () => {
      await take('gone', key, LONG_MS);
      await take('here', { stream: 'other', phase: 'action' }, LONG_MS);
      expect(await world.leases.overdue('action', 10)).toEqual([]);
      await take('gone');
      await world.pass(TTL_MS);
      expect(await world.leases.overdue('action', 10)).toEqual([key]);
      expect(await world.leases.overdue('gate', 10)).toEqual([]);
      expect(await world.leases.overdue('action', 0)).toEqual([]);
      await take('awake', key, LONG_MS);
      expect(await world.leases.overdue('action', 10)).toEqual([]);
    });

    test('A17: that is over is taken over, and its old owner is told at the next renewal', async () => {
      await take('asleep');
      await world.pass(TTL_MS);
      expect(await take('awake', key, LONG_MS)).toEqual({ lease: 'taken' });
      expect(await world.leases.renew('asleep', [key], TTL_MS)).toEqual([key]);
      expect(await take('asleep')).toMatchObject({ lease: 'held', heldBy: 'awake' });
    });

    test('is taken by exactly one of many who ask at once', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => take(`process ${n}`, key, LONG_MS)));
      expect(answers.filter(({ lease }) => lease === 'taken')).toHaveLength(1);
      const winner = `process ${answers.findIndex(({ lease }) => lease === 'taken')}`;
      const holders = answers.flatMap((answer) => (answer.lease === 'held' ? [answer.heldBy] : []));
      expect(new Set(holders)).toEqual(new Set([winner]));
    });
  });

  describe('leases that are over', () => {
    test('are taken over by exactly one each, their old owner among those who ask', async () => {
      const keys = Array.from({ length: 50 }, (_, n) => ({ stream: `s${n}`, phase: 'p' }));
      await Promise.all(keys.map((on) => take('first', on, 1)));
      await world.pass(2);
      const owners = ['second', 'first', 'third', 'first again'];
      const answers = await Promise.all(keys.map((on) => Promise.all(owners.map((owner) => take(owner, on, LONG_MS)))));
      const winners = answers.map((of) => of.filter(({ lease }) => lease === 'taken').length);
      expect(winners).toEqual(keys.map(() => 1));
    });
  });

  describe('a renewal', () => {
    test('keeps all leases of its owner beyond their time', async () => {
      const second = { stream: 'gate-task-1', phase: 'gate' };
      await take('here');
      await take('here', second);
      expect(await world.leases.renew('here', [key, second], LONG_MS)).toEqual([]);
      await world.pass(TTL_MS);
      expect(await take('there')).toMatchObject({ lease: 'held' });
      expect(await take('there', second)).toMatchObject({ lease: 'held' });
    });

    test('U-T42 of a lease that is over but not taken is in time', async () => {
      await take('here');
      await world.pass(TTL_MS);
      expect(await world.leases.renew('here', [key], LONG_MS)).toEqual([]);
      expect(await take('there')).toMatchObject({ lease: 'held', heldBy: 'here' });
    });

    test('tells which leases are not the own ones, and does not touch them', async () => {
      const free = { stream: 'free', phase: 'action' };
      await take('there');
      const lost = await world.leases.renew('here', [key, free], LONG_MS);
      expect(new Set(lost)).toEqual(new Set([key, free]));
      await world.pass(TTL_MS);
      expect(await take('here')).toEqual({ lease: 'taken' });
    });

    test('of nothing says nothing', async () => {
      expect(await world.leases.renew('here', [], TTL_MS)).toEqual([]);
    });
  });

  describe('a release', () => {
    test('frees the own lease at once', async () => {
      await take('here', key, LONG_MS);
      await world.leases.release('here', [key]);
      expect(await take('there')).toEqual({ lease: 'taken' });
    });

    test('of somebody else does nothing', async () => {
      await take('here', key, LONG_MS);
      await world.leases.release('there', [key]);
      expect(await take('there')).toMatchObject({ lease: 'held', heldBy: 'here' });
    });
  });
};
