import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@fixpoint/contracts/clock';
import type { JobState } from '@fixpoint/contracts/rest/jobs';
import {
  type JobClaim,
  type JobRefusal,
  type JobStanding,
  type Jobs,
  MOST_PARTS,
  type NewJob,
  OWNED_MS,
  type Settlement,
  type TakenJob,
  type Taking,
} from './jobs.ts';

interface Kept extends Omit<NewJob, 'timeMs'> {
  readonly offeredAt: number;
  ownedUntil: number;
  deadline: number;
  status: JobStanding['status'];
  epoch: number;
  holder: string | null;
  worker: string;
  leaseMs: number;
  expiresAt: number;
  progress: string | null;
  parts: string[];
  settlement: Settlement | null;
  closedAt: number;
}

/** Jobs of one process. */
export const memoryJobs = (clock: Pick<Clock, 'now'>): Jobs => new MemoryJobs(clock);

class MemoryJobs implements Jobs {
  readonly #clock: Pick<Clock, 'now'>;
  #jobs: Kept[] = [];

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  async offer({ timeMs, ...job }: NewJob): Promise<string | null> {
    const now = this.#now();
    const mine = { ...job, ownedUntil: now + OWNED_MS, deadline: now + timeMs };
    const same = this.#jobs.find(({ workKey, status }) => workKey === job.workKey && status !== 'closed');
    if (same === undefined) {
      this.#jobs.push({ ...UNTOUCHED, ...mine, parts: [], offeredAt: now });
      return job.id;
    }
    if (this.#isOwned(same)) return null;
    Object.assign(same, { ...mine, id: same.id, workspace: same.workspace });
    return same.id;
  }

  async take(queue: string, { holder, worker, leaseMs }: Taking): Promise<TakenJob | null> {
    const job = this.#jobs.find((each) => each.queue === queue && each.status === 'offered' && this.#isOwned(each));
    if (job === undefined) return null;
    const epoch = job.epoch + 1;
    Object.assign(job, { holder, worker, leaseMs, epoch, status: 'leased', expiresAt: this.#now() + leaseMs });
    const { id, request, workspace, deadline } = job;
    return { job: id, epoch, queue, request, workspace, timeMs: Math.max(0, deadline - this.#now()) };
  }

  async heartbeat(claim: JobClaim, progress: string | null): Promise<JobRefusal | { readonly leaseMs: number }> {
    const job = this.#leased(claim);
    if (typeof job === 'string') return job;
    job.expiresAt = this.#now() + job.leaseMs;
    job.progress = progress ?? job.progress;
    return { leaseMs: job.leaseMs };
  }

  async workspace(claim: JobClaim): Promise<JobRefusal | { readonly artifact: string | null }> {
    const job = this.#leased(claim);
    return typeof job === 'string' ? job : { artifact: job.workspace };
  }

  async addPart(claim: JobClaim, artifact: string): Promise<JobRefusal | null> {
    const job = this.#leased(claim);
    if (typeof job === 'string') return job;
    if (job.parts.length >= MOST_PARTS) return 'too_many_parts';
    job.parts.push(artifact);
    return null;
  }

  async settle(claim: JobClaim, settlement: Settlement, parts: readonly string[]): Promise<JobRefusal | null> {
    const job = this.#held(claim);
    if (typeof job === 'string') return job;
    if (job.status === 'settled') return isDeepStrictEqual(job.settlement, settlement) ? null : 'settled';
    Object.assign(job, { status: 'settled', settlement, parts: [...job.parts, ...parts] });
    return null;
  }

  async release(claim: JobClaim): Promise<JobRefusal | null> {
    const job = this.#leased(claim);
    if (typeof job === 'string') return job;
    Object.assign(job, { status: 'offered', holder: null, parts: [], progress: null });
    return null;
  }

  async keep(id: string): Promise<void> {
    this.#change(id, { ownedUntil: this.#now() + OWNED_MS });
  }

  async standing(id: string): Promise<JobStanding> {
    const job = this.#find(id);
    return job === undefined ? { status: 'closed' } : standingOf(job, this.#now());
  }

  async leave(id: string): Promise<void> {
    this.#change(id, { ownedUntil: this.#now() });
  }

  async close(id: string): Promise<void> {
    this.#change(id, { status: 'closed', closedAt: this.#now() });
  }

  async sweep(olderThanMs: number): Promise<void> {
    const before = this.#now() - olderThanMs;
    this.#jobs = this.#jobs.filter((job) => (job.status === 'closed' ? job.closedAt : job.ownedUntil) >= before);
  }

  async list(limit: number): Promise<readonly JobState[]> {
    return this.#jobs.flatMap(stateOf).slice(0, limit);
  }

  #now(): number {
    return this.#clock.now().getTime();
  }

  #isOwned(job: Kept): boolean {
    return job.ownedUntil > this.#now();
  }

  #find(id: string): Kept | undefined {
    return this.#jobs.find((job) => job.id === id);
  }

  #change(id: string, change: Partial<Kept>): void {
    const job = this.#find(id);
    if (job !== undefined) Object.assign(job, change);
  }

  #held({ job: id, epoch, holder }: JobClaim): Kept | JobRefusal {
    const job = this.#find(id);
    if (job === undefined) return 'unknown';
    if (job.status === 'closed') return 'over';
    return job.epoch === epoch && job.holder === holder ? job : 'not_yours';
  }

  #leased(claim: JobClaim): Kept | JobRefusal {
    const job = this.#held(claim);
    if (typeof job === 'string') return job;
    return job.status === 'leased' ? job : 'settled';
  }
}

const stateOf = (job: Kept): JobState[] => {
  const { id, queue, request, status, epoch, worker, progress, offeredAt } = job;
  if (status === 'closed') return [];
  const { root, task, run } = request;
  const by = status === 'offered' ? null : worker;
  const offered_at = new Date(offeredAt).toISOString();
  return [{ ...{ job: id, queue, root, task, run, epoch, progress }, status, worker: by, offered_at }];
};

const UNTOUCHED = {
  status: 'offered' as const,
  ...{ epoch: 0, holder: null, worker: '', leaseMs: 0, expiresAt: 0 },
  ...{ progress: null, settlement: null, closedAt: 0 },
};

const standingOf = (job: Kept, now: number): JobStanding => {
  const { status, worker, epoch, parts, settlement } = job;
  if (status === 'leased') return { status, worker, isLost: job.expiresAt <= now };
  if (status === 'settled' && settlement !== null) return { status, worker, epoch, parts, settlement };
  return { status: status === 'offered' ? 'offered' : 'closed' };
};
