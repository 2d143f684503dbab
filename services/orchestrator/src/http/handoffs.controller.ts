import {
  type ClaimedHandoff,
  type ClaimHandoff,
  claimHandoffSchema,
  type DecidedHandoff,
  type DecideHandoff,
  decideHandoffQuerySchema,
  decideHandoffSchema,
} from '@fixpoint/contracts/rest/handoffs';
import { Refused } from '@fixpoint/decider/refused';
import { LOCAL, type Principal } from '@fixpoint/runtime/api-keys';
import { Asker, requireRole } from '@fixpoint/runtime/authentication';
import { badInput, HttpProblem } from '@fixpoint/runtime/http-problem';
import { Body, Controller, HttpCode, Inject, Param, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { claimHandoff, decideHandoff, type HandoffDeps } from '../writing/handoffs.ts';

/** {@link HandoffDeps} */
export const HANDOFF_DESK = Symbol('HANDOFF_DESK');

/** Whoever may submit work must not lift what is objected to in it, hence the role. */
@Controller('v1/handoffs/:handoff')
export class HandoffsController {
  private readonly desk: HandoffDeps;

  constructor(@Inject(HANDOFF_DESK) desk: HandoffDeps) {
    this.desk = desk;
  }

  @Post('decisions')
  @HttpCode(200)
  async decide(
    @Param('handoff') handoff: string,
    @Body({ schema: decideHandoffSchema }) body: DecideHandoff,
    @Req() { query, principal }: FastifyRequest,
  ): Promise<DecidedHandoff> {
    requireRole(principal, 'admin');
    const asked = decideHandoffQuerySchema.safeParse(query);
    if (!asked.success) throw badInput('query_invalid', 'dry_run is true or false, and there is nothing else to ask');
    const who = { actor: principal.name, authenticated: authenticated(principal) };
    const order = { handoff, body, dryRun: asked.data.dry_run === 'true', ...who };
    return await decideHandoff(this.desk, order).catch(problem);
  }

  @Post('claim')
  @HttpCode(200)
  async claim(
    @Param('handoff') handoff: string,
    @Body({ schema: claimHandoffSchema }) body: ClaimHandoff,
    @Asker() asker: Principal,
  ): Promise<ClaimedHandoff> {
    requireRole(asker, 'admin');
    return await claimHandoff(this.desk, { ...body, handoff, actor: asker.name }).catch(problem);
  }
}

const authenticated = (asker: Principal) => (asker === LOCAL ? ('loopback' as const) : ('api_key' as const));

const STATUS: Readonly<Record<string, number>> = {
  handoff_unknown: 404,
  handoff_version_conflict: 409,
  handoff_closed: 409,
  handoff_claimed: 409,
  decision_id_reused: 409,
  run_in_flight: 409,
  decisions_not_signed: 503,
};

const problem = (error: unknown): never => {
  if (!(error instanceof Refused)) throw error;
  const { code, message: detail } = error;
  throw new HttpProblem(STATUS[code] ?? 422, { code, detail, diagnostics: [] });
};
