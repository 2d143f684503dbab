import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { addStoreMigrate } from './store-migrate.ts';
import { addStoreNewEpoch } from './store-new-epoch.ts';
import { addStoreStatus } from './store-status.ts';

/** `fixpoint store …` */
export const addStore = (program: Command, context: Context): void => {
  const store = program.command('store').description('look after the database of the event store');
  for (const add of [addStoreMigrate, addStoreStatus, addStoreNewEpoch]) add(store, context);
};
