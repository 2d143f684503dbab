import { sha256 } from '@fixpoint/contracts/content-hash';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import type { Role } from '@fixpoint/runtime/api-keys';
import { silentLog } from '@fixpoint/runtime/log';
import { type Running, start } from '@fixpoint/runtime/start';
import { systemClock } from '@fixpoint/runtime/system-clock';
import type { DynamicModule } from '@nestjs/common';
import { JOB_DESK, JobsController } from './http/jobs.controller.ts';
import { jobDesk } from './jobs/job-desk.ts';
import type { Jobs } from './jobs/jobs.ts';

class ServedJobsModule {}

/** The worker API over HTTP on jobs that somebody offers. @param roles each has a key of its own name; none: no keys. */
export const servedJobs = (jobs: Jobs, artifacts: Artifacts, roles: readonly Role[] = []): Promise<Running> => {
  const closing = new AbortController().signal;
  const desk = jobDesk({ jobs, artifacts, clock: systemClock, closing });
  const module: DynamicModule = {
    module: ServedJobsModule,
    controllers: [JobsController],
    providers: [{ provide: JOB_DESK, useValue: desk }],
  };
  const apiKeys = roles.map((role) => ({ name: role, role, sha256: sha256(role) }));
  return start([module], { http: { host: '127.0.0.1', port: 0, apiKeys }, log: silentLog, drainMs: 1_000 });
};
