import type { BatchResult, BatchSubmitted, SubmitBody, SubmitTask, Submitted } from '@fixpoint/contracts/rest/tasks';
import { idempotencyKeySchema, submitBodySchema } from '@fixpoint/contracts/rest/tasks';
import type { Principal } from '@fixpoint/runtime/api-keys';
import { Asker } from '@fixpoint/runtime/authentication';
import { badInput, HttpProblem, tooManyRequests } from '@fixpoint/runtime/http-problem';
import { Body, Controller, Inject, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type SubmitDeps, submitTasks } from '../writing/submit.ts';
import { type RunAsking, submitChild } from '../writing/submit-child.ts';

/** {@link Submissions} */
export const SUBMISSIONS = Symbol('SUBMISSIONS');

export interface Submissions extends SubmitDeps {
  /** Tasks that may be on their way into the store at the same time; more are told to come back. */
  readonly mostInFlight: number;
  /** Runs that wait for their turn. */
  readonly queued: () => number;
  /** From so many on, tasks are told to come back. */
  readonly mostQueued: number;
}

/** A queue that is full does not become short within a second. */
const QUEUE_RETRY_S = 10;

@Controller('v1/tasks')
export class TasksController {
  private readonly submissions: Submissions;
  private inFlight = 0;

  constructor(@Inject(SUBMISSIONS) submissions: Submissions) {
    this.submissions = submissions;
  }

  @Post()
  async submit(
    @Body({ schema: submitBodySchema }) body: SubmitBody,
    @Asker() asker: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Submitted | BatchSubmitted> {
    const header = reply.request.headers['idempotency-key'];
    if (asker.run !== undefined) return this.submitChild(body, { ...asker, run: asker.run }, reply);
    if ('tasks' in body) {
      if (header !== undefined)
        throw badInput('idempotency_key_misplaced', 'a batch has one key per task, in its body');
      reply.code(200);
      return { results: [...(await this.admit(body.tasks, asker))] };
    }
    const [result] = await this.admit([withKey(body, header)], asker);
    return single(result, reply);
  }

  /** A run hands in one task at a time: each is a decision on the lineage that it is part of. */
  private async submitChild(body: SubmitBody, asker: RunAsking, reply: FastifyReply): Promise<Submitted> {
    if ('tasks' in body) throw badInput('batch_not_for_runs', 'a run submits one task at a time');
    const task = withKey(body, reply.request.headers['idempotency-key']);
    const [result] = await this.admitted(1, async () => [await submitChild(this.submissions, task, asker)]);
    return single(result, reply);
  }

  private admit(tasks: readonly SubmitTask[], asker: Principal): Promise<readonly BatchResult[]> {
    return this.admitted(tasks.length, () => submitTasks(this.submissions, tasks, asker.name));
  }

  /** @throws {HttpProblem} 429 when there is no room for so many. */
  private async admitted(count: number, store: () => Promise<readonly BatchResult[]>): Promise<readonly BatchResult[]> {
    const { mostInFlight, mostQueued, queued } = this.submissions;
    if (queued() >= mostQueued)
      throw tooManyRequests('queue_full', `${queued()} runs wait for their turn`, QUEUE_RETRY_S);
    // A batch that is larger than the limit still gets in when nothing else is on its way.
    if (this.inFlight > 0 && this.inFlight + count > mostInFlight) {
      throw tooManyRequests('too_many_submissions', `${this.inFlight} tasks are being stored`, 1);
    }
    this.inFlight += count;
    try {
      return await store();
    } finally {
      this.inFlight -= count;
    }
  }
}

const withKey = (task: SubmitTask, header: unknown): SubmitTask => {
  if (header === undefined) return task;
  const key = idempotencyKeySchema.safeParse(header);
  if (!key.success) throw badInput('idempotency_key_invalid', 'a key has 1 to 200 characters');
  if (task.idempotency_key !== undefined && task.idempotency_key !== null && task.idempotency_key !== key.data) {
    throw badInput('idempotency_key_twice', 'header and body name different keys');
  }
  return { ...task, idempotency_key: key.data };
};

const single = (result: BatchResult | undefined, reply: FastifyReply): Submitted => {
  if (result === undefined) throw new Error('a task got no answer');
  if (result.outcome === 'refused') {
    const { http_status, code, detail, diagnostics } = result;
    throw new HttpProblem(http_status, { code, detail, diagnostics });
  }
  const { outcome: _outcome, http_status, ...submitted } = result;
  reply.code(http_status);
  return submitted;
};
