import type { Slice } from '@fixpoint/contracts/events/decomposer-events';
import type { CouncilQuestion } from '@fixpoint/models/council-model';
import { checksOfPiece, sliceEnv } from './derived-slice.ts';

/** A patch stands twice in the slice, in its recipe and in its check. */
const PATCH_BYTES = 12 * 1024;

const CHECK_TIMEOUT_MS = 30_000;
const RUN_TIMEOUT_MS = 300_000;

/** The part of a patch that is about these files, as git prints it; names with quotes or spaces are left to others. */
const patchOf = (patch: string, paths: readonly string[]): string | null => {
  const parts = patch.split(/^(?=diff --git )/m);
  const kept = parts.filter((part) => paths.some((path) => part.startsWith(`diff --git a/${path} b/${path}\n`)));
  return kept.length === paths.length ? kept.join('') : null;
};

/**
 * A child that lands what nothing objects to: it applies that part of the diff so far, and is done when it is in the files
 * and what the unit's own check says of these files holds, where it can be asked about them alone.
 */
export const salvageSlice = ({ patch, request }: CouncilQuestion, paths: readonly string[]): Slice | null => {
  const kept = patch === null ? null : patchOf(patch, paths);
  if (kept === null || Buffer.byteLength(kept) > PATCH_BYTES) return null;
  const goal = `What works already of ${paths.join(', ').slice(0, 500)} is kept`;
  const primitive = { with: { patch: kept } };
  const piece = { name: 'what works', goal, paths };
  const applied = { primitive: 'git-patch-applied', ...primitive, timeout_ms: CHECK_TIMEOUT_MS };
  const { node } = request;
  return {
    ...{ ...piece, paths: [...paths] },
    nodes: [
      {
        ...{ id: 'salvage', kind: 'action', goal, policy: 'required', timeout_ms: RUN_TIMEOUT_MS },
        env: node === null ? {} : sliceEnv(node, piece),
        recipe: { primitive: 'git-apply-patch', ...primitive },
        postcondition: { all: [applied, ...(node === null ? [] : checksOfPiece(node))] },
        ...{ max_repair_attempts: 0, max_agent_attempts: 0, model: 'default', agent_tools: [] },
      },
    ],
    inputs: request.inputs,
    salvage: true,
    parts: [],
  };
};
