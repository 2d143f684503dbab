import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type JobClaim, type Jobs, type NewJob, OWNED_MS, type Settlement, type TakenJob } from './jobs.ts';

export interface JobsUnderTest {
  readonly jobs: Jobs;
  /** Lets time go by for whoever keeps the jobs. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

const DONE: Settlement = { kind: 'result', result: { output: { n: 1 }, exit_code: 0, stdout: '', stderr: '\0' } };
const BY = { holder: 'key', worker: 'w1', leaseMs: 1_000 };

const newJob = (changes: Partial<NewJob> = {}): NewJob => ({
  id: randomUUID(),
  workKey: randomUUID(),
  queue: 'builds',
  stream: 'action-t-1',
  owner: 'executor-a',
  request: {
    ...{ root: 'r', task: 't', run: 1, node_id: 'n', scope: { project: 'p', mode: 'build' }, goal: 'goal' },
    ...{ with: { text: 'a\0b' }, env: {}, idempotency_key: 't/n', run_token: 'token' },
  },
  workspace: 'artifact',
  timeMs: 60_000,
  ...changes,
});

/** The promises of {@link Jobs}. */
export const jobsContract = (name: string, open: () => Promise<JobsUnderTest>): void => {
  describe(name, () => {
    let subject: JobsUnderTest;
    let jobs: Jobs;
    beforeEach(async () => {
      subject = await open();
      jobs = subject.jobs;
    });
    afterEach(() => subject.close());

    const taken = async (queue = 'builds', by = BY): Promise<TakenJob> => {
      const job = await jobs.take(queue, by);
      if (job === null) throw new Error('there is no job');
      return job;
    };
    const claimOf = ({ job, epoch }: TakenJob): JobClaim => ({ job, epoch, holder: BY.holder });

    test('a job is given to one worker, the oldest of its queue first, with all that was asked', async () => {
      const [first, second] = [newJob(), newJob()];
      await jobs.offer(first);
      await jobs.offer(second);
      expect(await jobs.take('other', BY)).toBeNull();
      const job = await taken();
      expect(job).toMatchObject({ job: first.id, epoch: 1, request: first.request, workspace: 'artifact' });
      expect(job.timeMs).toBeLessThanOrEqual(60_000);
      expect(job.timeMs).toBeGreaterThan(50_000);
      expect((await taken()).job).toBe(second.id);
      expect(await jobs.take('builds', BY)).toBeNull();
    });

    test('of many that ask at once each gets another job', async () => {
      const offered = Array.from({ length: 8 }, () => newJob());
      for (const job of offered) await jobs.offer(job);
      const got = await Promise.all(Array.from({ length: 12 }, () => jobs.take('builds', BY)));
      expect(got.flatMap((job) => job?.job ?? []).sort()).toEqual(offered.map(({ id }) => id).sort());
    });

    test('a heartbeat keeps the lease, and a lease that is over is lost', async () => {
      await jobs.offer(newJob());
      const claim = claimOf(await taken());
      await subject.pass(700);
      expect(await jobs.heartbeat(claim, 'half')).toEqual({ leaseMs: 1_000 });
      await subject.pass(700);
      expect(await jobs.standing(claim.job)).toEqual({ status: 'leased', worker: 'w1', isLost: false });
      await subject.pass(700);
      expect(await jobs.standing(claim.job)).toMatchObject({ isLost: true });
      expect((await jobs.list(10)).map(({ progress, worker }) => [progress, worker])).toEqual([['half', 'w1']]);
    });

    test('a result is kept with all its parts, and said twice it is said once', async () => {
      await jobs.offer(newJob());
      const claim = claimOf(await taken());
      expect(await jobs.addPart(claim, 'one')).toBeNull();
      expect(await jobs.settle(claim, DONE, ['two'])).toBeNull();
      expect(await jobs.settle(claim, DONE, ['two'])).toBeNull();
      expect(await jobs.standing(claim.job)).toEqual({
        status: 'settled',
        worker: 'w1',
        epoch: 1,
        parts: ['one', 'two'],
        settlement: DONE,
      });
      const other: Settlement = { kind: 'failure', failure: { reason: 'no', fault: false } };
      expect(await jobs.settle(claim, other, [])).toBe('settled');
      expect(await jobs.heartbeat(claim, null)).toBe('settled');
      expect(await jobs.addPart(claim, 'late')).toBe('settled');
    });

    test('an old epoch, another key, a job that is over or was never there: all are told so', async () => {
      await jobs.offer(newJob());
      const old = claimOf(await taken());
      expect(await jobs.workspace({ ...old, holder: 'other' })).toBe('not_yours');
      expect(await jobs.release(old)).toBeNull();
      const claim = claimOf(await taken());
      expect(claim).toEqual({ ...old, epoch: 2 });
      expect(await jobs.workspace(old)).toBe('not_yours');
      expect(await jobs.release(old)).toBe('not_yours');
      expect(await jobs.heartbeat(old, null)).toBe('not_yours');
      expect(await jobs.settle(old, DONE, [])).toBe('not_yours');
      await jobs.close(claim.job, 'cancelled');
      expect(await jobs.heartbeat(claim, null)).toBe('over');
      expect(await jobs.settle(claim, DONE, [])).toBe('over');
      expect(await jobs.settle({ ...claim, job: randomUUID() }, DONE, [])).toBe('unknown');
    });

    test('what a worker gave back is offered again, without what it had sent', async () => {
      await jobs.offer(newJob());
      const claim = claimOf(await taken());
      await jobs.addPart(claim, 'dropped');
      await jobs.release(claim);
      expect(await jobs.standing(claim.job)).toEqual({ status: 'offered' });
      const again = claimOf(await taken());
      await jobs.settle(again, DONE, []);
      expect(await jobs.standing(again.job)).toMatchObject({ parts: [], epoch: 2 });
    });

    test('work that another executor waits for is nobody else’s; left, it is taken over with its worker and result', async () => {
      const first = newJob();
      await jobs.offer(first);
      const claim = claimOf(await taken());
      const next = newJob({ workKey: first.workKey, owner: 'executor-b', stream: 'action-t-2' });
      expect(await jobs.offer(next)).toBeNull();
      await jobs.leave(first.id);
      expect(await jobs.heartbeat(claim, null)).toEqual({ leaseMs: 1_000 });
      expect(await jobs.settle(claim, DONE, ['part'])).toBeNull();
      expect(await jobs.offer(next)).toBe(first.id);
      expect(await jobs.standing(first.id)).toMatchObject({ status: 'settled', parts: ['part'] });
      await jobs.close(first.id, 'taken');
      expect(await jobs.offer(next)).toBe(next.id);
    });

    test('nobody is given a job that no executor waits for', async () => {
      const { id } = newJob();
      await jobs.offer(newJob({ id }));
      await jobs.leave(id);
      expect(await jobs.take('builds', BY)).toBeNull();
      await jobs.keep(id);
      expect((await taken()).job).toBe(id);
    });

    test('what is over is forgotten after a while, and nothing else', async () => {
      const [open, over, left] = [newJob(), newJob(), newJob()];
      for (const job of [open, over, left]) await jobs.offer(job);
      await jobs.close(over.id, 'done');
      await jobs.leave(left.id);
      await subject.pass(50);
      await jobs.sweep(60_000);
      expect(await jobs.list(10)).toHaveLength(2);
      await jobs.sweep(10);
      expect((await jobs.list(10)).map(({ job }) => job)).toEqual([open.id]);
      expect(OWNED_MS).toBeGreaterThan(10);
    });
  });
};
