import type { ModeSpec } from '@fixpoint/contracts/documents/protocol';
import { allowedDecisions } from '@fixpoint/orchestrator/domain/lineage/decisions/decision-table';
import { NOW } from '@fixpoint/orchestrator/domain/lineage/lineage.fixture';
import type { Admitted } from '@fixpoint/orchestrator/domain/lineage/state';
import type { HumanMove } from './people.ts';

/** A handoff offers nothing that is then refused, in every form: what of the open ones is. */
export const refusedOffers = (state: Admitted, mode: ModeSpec, taken: readonly HumanMove[]): readonly string[] => {
  const turn = { now: NOW, mode, askCondition: () => ({ holds: true }), state };
  return Object.entries(state.units).flatMap(([id, { handoff }]) => {
    const task = state.tasks[id];
    if (handoff === null || task === undefined) return [];
    return allowedDecisions(turn, task, handoff.causes)
      .filter((kind) => !taken.some((move) => move.task === id && move.kind === kind))
      .map((kind) => `${handoff.id} offers ${kind}, which is refused`);
  });
};
