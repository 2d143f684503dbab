import { randomUUID } from 'node:crypto';
import type { Ids } from '@fixpoint/contracts/clock';

/** Random ids of the machine. */
export const systemIds: Ids = { uuid: () => randomUUID() };
