import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { addProjectionsList } from './projections-list.ts';
import { addProjectionsRebuild } from './projections-rebuild.ts';
import { addProjectionsReconcile } from './projections-reconcile.ts';

/** `fixpoint projections …` */
export const addProjections = (program: Command, context: Context): void => {
  const projections = program.command('projections').description('look after the read models that follow the log');
  for (const add of [addProjectionsList, addProjectionsRebuild, addProjectionsReconcile]) add(projections, context);
};
