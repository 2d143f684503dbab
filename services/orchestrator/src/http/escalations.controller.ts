import { type Escalate, escalateSchema } from '@fixpoint/contracts/rest/escalations';
import type { Submitted } from '@fixpoint/contracts/rest/tasks';
import type { Principal } from '@fixpoint/runtime/api-keys';
import { Asker } from '@fixpoint/runtime/authentication';
import { HttpProblem } from '@fixpoint/runtime/http-problem';
import { Body, Controller, Inject, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { escalate } from '../writing/escalate.ts';
import type { SubmitDeps } from '../writing/submit.ts';
import { SUBMISSIONS } from './tasks.controller.ts';

/** Work that producers could not finish. */
@Controller('v1/escalations')
export class EscalationsController {
  private readonly submissions: SubmitDeps;

  constructor(@Inject(SUBMISSIONS) submissions: SubmitDeps) {
    this.submissions = submissions;
  }

  @Post()
  async escalate(
    @Body({ schema: escalateSchema }) body: Escalate,
    @Asker() asker: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Submitted> {
    const answer = await escalate(this.submissions, body, asker.name);
    if (answer.outcome === 'refused') {
      const { http_status, code, detail, diagnostics } = answer;
      throw new HttpProblem(http_status, { code, detail, diagnostics });
    }
    const { outcome: _outcome, http_status, ...submitted } = answer;
    reply.code(http_status);
    return submitted;
  }
}
