import { AttributeInvalid } from '@fixpoint/contracts/ingested-event';
import { type Escalate, escalateSchema } from '@fixpoint/contracts/rest/escalations';
import type { BatchResult, Submitted } from '@fixpoint/contracts/rest/tasks';
import type { Principal } from '@fixpoint/runtime/api-keys';
import { Asker } from '@fixpoint/runtime/authentication';
import { schemaProblem } from '@fixpoint/runtime/error-answer';
import { badInput, HttpProblem } from '@fixpoint/runtime/http-problem';
import { Body, Controller, Inject, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type EscalateDeps, escalate } from '../writing/escalate.ts';
import { ingestEvent } from '../writing/ingest-event.ts';

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
    return handedOver(await escalate(this.escalations, body, { actor: asker.name }), reply);
  }

  /** What of it is in headers, and what in the body, its mode says: it is put together before it is checked. */
  @Post('events')
  async event(
    @Body() body: unknown,
    @Asker() asker: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Submitted> {
    const sent = { headers: reply.request.headers, body };
    const answer = await ingestEvent(this.escalations, sent, { actor: asker.name }).catch(unreadable);
    if (answer.outcome === 'no_event') throw schemaProblem(answer.issues);
    return handedOver(answer, reply);
  }
}

const unreadable = (error: unknown): never => {
  if (error instanceof AttributeInvalid) throw badInput('event_invalid', error.message);
  throw error;
};

const handedOver = (answer: BatchResult, reply: FastifyReply): Submitted => {
  if (answer.outcome === 'refused') {
    const { http_status, code, detail, diagnostics } = answer;
    throw new HttpProblem(http_status, { code, detail, diagnostics });
  }
  const { outcome: _outcome, http_status, ...submitted } = answer;
  reply.code(http_status);
  return submitted;
};
