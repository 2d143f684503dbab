import { sha256 } from '@fixpoint/contracts/content-hash';
import {
  type Escalate,
  escalateSchema,
  type IngestedEvent,
  ingestedEventSchema,
} from '@fixpoint/contracts/rest/escalations';
import type { Submitted } from '@fixpoint/contracts/rest/tasks';
import type { Principal } from '@fixpoint/runtime/api-keys';
import { Asker } from '@fixpoint/runtime/authentication';
import { HttpProblem } from '@fixpoint/runtime/http-problem';
import { Body, Controller, Inject, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type EscalateDeps, escalate } from '../writing/escalate.ts';

export const ESCALATIONS = Symbol('ESCALATIONS');

/** Work that producers could not finish, told directly or as a CloudEvent. */
@Controller('v1')
export class EscalationsController {
  private readonly escalations: EscalateDeps;

  constructor(@Inject(ESCALATIONS) escalations: EscalateDeps) {
    this.escalations = escalations;
  }

  @Post('escalations')
  async escalate(
    @Body({ schema: escalateSchema }) body: Escalate,
    @Asker() asker: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Submitted> {
    return this.handedOver(body, asker, reply);
  }

  @Post('events')
  async event(
    @Body({ schema: ingestedEventSchema }) { id, source, data }: IngestedEvent,
    @Asker() asker: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Submitted> {
    // Sent again, an event is the same event, whether its sender thought of a key or not.
    const key = data.idempotency_key ?? sha256(JSON.stringify([source, id]));
    return this.handedOver({ ...data, idempotency_key: key }, asker, reply);
  }

  private async handedOver(escalation: Escalate, asker: Principal, reply: FastifyReply): Promise<Submitted> {
    const answer = await escalate(this.escalations, escalation, asker.name);
    if (answer.outcome === 'refused') {
      const { http_status, code, detail, diagnostics } = answer;
      throw new HttpProblem(http_status, { code, detail, diagnostics });
    }
    const { outcome: _outcome, http_status, ...submitted } = answer;
    reply.code(http_status);
    return submitted;
  }
}
