import type { FaultClass } from '@fixpoint/contracts/events/executor-events';
import { systemErrorOf } from '@fixpoint/execution/system-error';
import { WorkspaceFault } from '@fixpoint/execution/workspace-fault';
import { ModelFault } from '@fixpoint/models/model-fault';
import { PrimitiveFault } from '../ladder/primitive-calls.ts';
import { SurvivingProcesses } from '../ladder/recorded-commands.ts';
import { NoSuchModel } from './agent-rung.ts';
import { WorkerFault } from './worker-rung.ts';

/** What the operating system refuses where this process keeps files of its own. */
const classes: Readonly<Record<string, FaultClass>> = {
  ENOSPC: 'disk',
  EDQUOT: 'disk',
  EIO: 'disk',
  EROFS: 'disk',
  EACCES: 'internal',
};

/** A socket of the store may be refused with the same codes; the store is asked again later. */
const isOfSocket = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'syscall' in error && error.syscall === 'connect';

/** Faults of the machinery that a run may report; null for everything else, a store that is down among it. */
export const faultClassOf = (error: unknown): FaultClass | null => {
  if (error instanceof WorkspaceFault || error instanceof ModelFault || error instanceof WorkerFault)
    return error.faultClass;
  if (error instanceof NoSuchModel) return 'internal';
  if (error instanceof SurvivingProcesses || error instanceof PrimitiveFault) return 'internal';
  return isOfSocket(error) ? null : (classes[systemErrorOf(error)?.code ?? ''] ?? null);
};
