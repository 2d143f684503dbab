import { Refused } from '@fixpoint/decider/refused';
import type { OrchestratorProcess } from '../world/services.ts';
import type { SimWorld } from './sim-world.ts';

/**
 * Asks one of the orchestrators, as somebody outside of the world does. A refusal is an answer; who gets none, because the
 * process is gone or has lost its store, asks again with the same words or never.
 */
export const ask = async (world: SimWorld, put: (of: OrchestratorProcess) => Promise<unknown>): Promise<void> => {
  const [orchestrator] = world.staff.orchestrators();
  if (orchestrator === undefined) return;
  const heard = put(orchestrator).catch((error: unknown) => {
    if (!(error instanceof Refused)) world.ground.report(`somebody outside heard: ${error}`);
  });
  await Promise.race([heard, orchestrator.process.death]);
};
