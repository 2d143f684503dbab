import type { Clock } from '@fixpoint/contracts/clock';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { LEASE_RENEWAL_MS } from './lease.ts';
import { memoryLeases } from './memory-leases.ts';
import { type OwnedWork, ownedWork } from './owned-work.ts';
import { workVerdict } from './work-verdict.ts';

const work = { stream: 'gate-r-1', phase: 'gate', root: 'r', task: 'r' };
const never = new AbortController().signal;

let nowMs = 0;
/** Lets whoever waits for a slot wait no longer; rounds of renewal do not sleep. */
let losePatience: () => void = () => undefined;
const clock: Clock = {
  now: () => new Date(nowMs),
  monotonicMs: () => nowMs,
  sleep: (ms) => (ms === LEASE_RENEWAL_MS ? Promise.resolve() : new Promise((resolve) => (losePatience = resolve))),
};
let leases = memoryLeases(clock);
let ended: string[] = [];

const replica = (owner: string, more: Partial<Parameters<typeof ownedWork>[0]> = {}): OwnedWork =>
  ownedWork({ leases, clock, owner, concurrency: 1, hasEnded: async ({ task }) => ended.includes(task), ...more });

/** Work that goes on until it is stopped and then says why. */
const untilStopped = (signal: AbortSignal): Promise<string> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(String(signal.reason))));

/** Everything that waits on nothing but promises has happened. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

beforeEach(() => {
  nowMs = 1_000_000;
  leases = memoryLeases(clock);
  ended = [];
});

describe('owned work', () => {
  test('is done by one process, and can be done again afterwards', async () => {
    const [a, b] = [replica('a'), replica('b')];
    const first = a.run(work, never, untilStopped);
    await settled();
    expect(await b.run(work, never, async () => 'b')).toEqual({ outcome: 'held' });
    expect(await a.run(work, never, async () => 'a again')).toEqual({ outcome: 'held' });
    a.stop({ root: 'r', task: 'r', run: null });
    expect(await first).toEqual({ outcome: 'done', result: 'stopped' });
    expect(await b.run(work, never, async () => 'b')).toEqual({ outcome: 'done', result: 'b' });
  });

  test('gives its lease back when it fails', async () => {
    await expect(replica('a').run(work, never, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await replica('b').run(work, never, async () => 'b')).toEqual({ outcome: 'done', result: 'b' });
  });

  test('waits for a slot without a lease, and is not renewed meanwhile', async () => {
    const a = replica('a');
    const first = a.run(work, never, untilStopped);
    const second = a.run({ ...work, stream: 'gate-r-2', task: 's' }, never, async () => 'second');
    await settled();
    await a.renew(never);
    expect(await leases.take({ stream: 'gate-r-2', phase: 'gate', owner: 'b', ttlMs: 1 })).toEqual({ lease: 'taken' });
    await leases.release('b', [{ stream: 'gate-r-2', phase: 'gate' }]);
    a.stop({ root: 'r', task: 'r', run: null });
    expect([await first, await second]).toEqual([
      { outcome: 'done', result: 'stopped' },
      { outcome: 'done', result: 'second' },
    ]);
  });

  test('B6 is left to others when no slot gets free within a moment', async () => {
    const a = replica('a');
    const first = a.run(work, never, untilStopped);
    const second = a.run({ ...work, stream: 'gate-r-2', task: 's' }, never, async () => 'second');
    await settled();
    losePatience();
    expect(await second).toEqual({ outcome: 'stopped', reason: 'no_slot' });
    expect(workVerdict('no_slot')).toMatchObject({ verdict: 'later' });
    a.stop({ root: 'r', task: 'r', run: null });
    await first;
    expect(await a.run(work, never, async () => 'next')).toEqual({ outcome: 'done', result: 'next' });
  });

  test('is stopped with its own run, and not with another one of its task', async () => {
    const a = replica('a');
    const second = a.run({ ...work, run: 2 }, never, untilStopped);
    await settled();
    a.stop({ root: 'r', task: 'r', run: 1 });
    a.stop({ root: 'r', task: 'r', run: 2 });
    expect(await second).toEqual({ outcome: 'done', result: 'stopped' });
    const third = a.run({ ...work, run: 3 }, never, async (signal) => signal.aborted);
    a.stop({ root: 'r', task: 'r', run: 2 });
    expect(await third).toEqual({ outcome: 'done', result: false });
  });

  test('is kept by renewing', async () => {
    const a = replica('a');
    const first = a.run(work, never, untilStopped);
    await settled();
    for (let round = 0; round < 30; round += 1) {
      nowMs += 1000;
      await a.renew(never);
    }
    expect(await replica('b').run(work, never, async () => 'b')).toEqual({ outcome: 'held' });
    a.stop({ root: 'r', task: 'r', run: null });
    await first;
  });

  test('stops when somebody else has taken it over', async () => {
    const a = replica('a');
    const first = a.run(work, never, untilStopped);
    await settled();
    nowMs += 15_001;
    await leases.take({ ...work, owner: 'b', ttlMs: 15_000 });
    await a.renew(never);
    expect(await first).toEqual({ outcome: 'done', result: 'lease_lost' });
  });

  test('stops by itself before its lease is over when it cannot be renewed', async () => {
    const a = replica('a', { leases: { ...leases, renew: () => Promise.reject(new Error('away')) } });
    const first = a.run(work, never, untilStopped);
    await settled();
    nowMs += 9_000;
    await expect(a.renew(never)).rejects.toThrow('away');
    nowMs += 2_000;
    await expect(a.renew(never)).rejects.toThrow('away');
    expect(await first).toEqual({ outcome: 'done', result: 'lease_lost' });
  });

  test('stops when its task has ended, though nobody said so', async () => {
    const a = replica('a');
    const first = a.run(work, never, untilStopped);
    await settled();
    ended.push('r');
    await a.renew(never);
    expect(await first).toEqual({ outcome: 'done', result: 'stopped' });
  });

  test('never begins for a task that has ended, or in a process that stops', async () => {
    ended.push('r');
    const body = () => Promise.reject(new Error('begun'));
    expect(await replica('a').run(work, never, body)).toEqual({ outcome: 'stopped', reason: 'stopped' });
    ended = [];
    expect(await replica('a').run(work, AbortSignal.abort(), body)).toEqual({ outcome: 'stopped', reason: 'shutdown' });
  });
});
