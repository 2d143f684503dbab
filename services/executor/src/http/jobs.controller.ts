import { Readable } from 'node:stream';
import {
  epochQuerySchema,
  type Heartbeat,
  heartbeatSchema,
  type JobFailure,
  type JobResult,
  type JobState,
  jobFailureSchema,
  jobResultSchema,
  type LeaseJob,
  leaseJobSchema,
  releaseJobSchema,
  type SendFiles,
  sendFilesSchema,
} from '@fixpoint/contracts/rest/jobs';
import type { Principal } from '@fixpoint/runtime/api-keys';
import { Asker, requireRole } from '@fixpoint/runtime/authentication';
import {
  Body,
  Controller,
  Get,
  Header,
  HttpCode,
  Inject,
  Param,
  Post,
  Query,
  Res,
  StreamableFile,
} from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { JobDesk } from '../jobs/job-desk.ts';
import type { JobClaim } from '../jobs/jobs.ts';

/** {@link JobDesk} */
export const JOB_DESK = Symbol('JOB_DESK');

/** For workers in any language: docs/workers.md. */
@Controller('v1/worker')
export class JobsController {
  private readonly desk: JobDesk;

  constructor(@Inject(JOB_DESK) desk: JobDesk) {
    this.desk = desk;
  }

  @Get('jobs')
  async list(): Promise<{ items: readonly JobState[] }> {
    return { items: await this.desk.list() };
  }

  @Post('leases')
  async lease(
    @Body({ schema: leaseJobSchema }) asked: LeaseJob,
    @Asker() asker: Principal,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    requireRole(asker, 'worker');
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const leased = await this.desk.lease(asker.name, asked, gone.signal);
    await (leased === null ? reply.code(204).send() : reply.code(200).send(leased));
  }

  @Post('jobs/:job/heartbeat')
  @HttpCode(200)
  heartbeat(
    @Param('job') job: string,
    @Body({ schema: heartbeatSchema }) said: Heartbeat,
    @Asker() asker: Principal,
  ): Promise<{ readonly lease_ms: number }> {
    return this.desk.heartbeat(claimOf(asker, job, said), said);
  }

  @Get('jobs/:job/workspace')
  @Header('content-type', 'application/x-tar')
  async workspace(
    @Param('job') job: string,
    @Query({ schema: epochQuerySchema }) query: { epoch: number },
    @Asker() asker: Principal,
  ): Promise<StreamableFile> {
    return new StreamableFile(Readable.from(await this.desk.workspace(claimOf(asker, job, query))));
  }

  @Post('jobs/:job/files')
  @HttpCode(204)
  sendFiles(
    @Param('job') job: string,
    @Body({ schema: sendFilesSchema }) sent: SendFiles,
    @Asker() asker: Principal,
  ): Promise<void> {
    return this.desk.sendFiles(claimOf(asker, job, sent), sent);
  }

  @Post('jobs/:job/result')
  @HttpCode(204)
  result(
    @Param('job') job: string,
    @Body({ schema: jobResultSchema }) said: JobResult,
    @Asker() asker: Principal,
  ): Promise<void> {
    return this.desk.result(claimOf(asker, job, said), said);
  }

  @Post('jobs/:job/fail')
  @HttpCode(204)
  fail(
    @Param('job') job: string,
    @Body({ schema: jobFailureSchema }) said: JobFailure,
    @Asker() asker: Principal,
  ): Promise<void> {
    return this.desk.fail(claimOf(asker, job, said), said);
  }

  @Post('jobs/:job/release')
  @HttpCode(204)
  release(
    @Param('job') job: string,
    @Body({ schema: releaseJobSchema }) said: { epoch: number },
    @Asker() asker: Principal,
  ): Promise<void> {
    return this.desk.release(claimOf(asker, job, said));
  }
}

const claimOf = (asker: Principal, job: string, { epoch }: { readonly epoch: number }): JobClaim => {
  requireRole(asker, 'worker');
  return { job, epoch, holder: asker.name };
};
