import { type CancelledTask, type CancelTask, cancelTaskSchema } from '@fixpoint/contracts/rest/cancel';
import { Refused } from '@fixpoint/decider/refused';
import type { Principal } from '@fixpoint/runtime/api-keys';
import { Asker } from '@fixpoint/runtime/authentication';
import { HttpProblem, notFound } from '@fixpoint/runtime/http-problem';
import { Body, Controller, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { LineageUnknown } from '../lineages.ts';
import { type CancelDeps, cancelTask } from '../writing/cancel.ts';

/** {@link CancelDeps} */
export const CANCEL_DESK = Symbol('CANCEL_DESK');

@Controller('v1/tasks/:lineage/cancel')
export class CancelController {
  private readonly desk: CancelDeps;

  constructor(@Inject(CANCEL_DESK) desk: CancelDeps) {
    this.desk = desk;
  }

  @Post()
  @HttpCode(200)
  async cancel(
    @Param('lineage') lineage: string,
    @Body({ schema: cancelTaskSchema }) order: CancelTask,
    @Asker() asker: Principal,
  ): Promise<CancelledTask> {
    return await cancelTask(this.desk, { ...order, lineage, actor: asker.name }).catch(told);
  }
}

const told = (error: unknown): never => {
  if (error instanceof LineageUnknown) throw notFound('lineage_unknown', 'there is no such lineage');
  if (!(error instanceof Refused)) throw error;
  const { code, detail } = error;
  if (code === 'task_unknown') throw notFound(code, 'the lineage has no such task');
  const why =
    code === 'task_already_ended' ? `it has ended before: ${detail}` : 'a fix ends with its unit: cancel that';
  throw new HttpProblem(409, { code, detail: why, diagnostics: [] });
};
