import {
  type DiscardDeadLetter,
  discardDeadLetterSchema,
  type HandledDeadLetter,
  type ReplayDeadLetter,
  replayDeadLetterSchema,
} from '@fixpoint/contracts/rest/dead-letters';
import { Refused } from '@fixpoint/decider/refused';
import type { Principal } from '@fixpoint/runtime/api-keys';
import { Asker, requireRole } from '@fixpoint/runtime/authentication';
import { notFound } from '@fixpoint/runtime/http-problem';
import { Body, Controller, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { type DeadLetterDeps, discardDeadLetter, replayDeadLetter } from '../writing/dead-letters.ts';

/** {@link DeadLetterDeps} */
export const DEAD_LETTER_DESK = Symbol('DEAD_LETTER_DESK');

/** What was given up belongs to the installation and not to who submitted it, hence the role. */
@Controller('v1/dead-letters/:letter')
export class DeadLettersController {
  private readonly desk: DeadLetterDeps;

  constructor(@Inject(DEAD_LETTER_DESK) desk: DeadLetterDeps) {
    this.desk = desk;
  }

  @Post('replay')
  @HttpCode(200)
  async replay(
    @Param('letter') letter: string,
    @Body({ schema: replayDeadLetterSchema }) { again }: ReplayDeadLetter,
    @Asker() asker: Principal,
  ): Promise<HandledDeadLetter> {
    requireRole(asker, 'admin');
    return await replayDeadLetter(this.desk, { letter, again, actor: asker.name }).catch(unknownIsNotFound);
  }

  @Post('discard')
  @HttpCode(200)
  async discard(
    @Param('letter') letter: string,
    @Body({ schema: discardDeadLetterSchema }) { reason }: DiscardDeadLetter,
    @Asker() asker: Principal,
  ): Promise<HandledDeadLetter> {
    requireRole(asker, 'admin');
    return await discardDeadLetter(this.desk, { letter, reason, actor: asker.name }).catch(unknownIsNotFound);
  }
}

const unknownIsNotFound = (error: unknown): never => {
  if (error instanceof Refused && error.code === 'dead_letter_unknown') {
    throw notFound('dead_letter_unknown', 'there is no such dead letter');
  }
  throw error;
};
