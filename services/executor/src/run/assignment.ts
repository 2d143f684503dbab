import type { ModeSpec } from '@fixpoint/contracts/documents/protocol';
import { checksOutput, isProgram } from '@fixpoint/contracts/documents/task';
import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import { restsOnWord } from '@fixpoint/contracts/human-decision';
import { confinementFor, type Refused, type SandboxPolicy } from '@fixpoint/execution/sandbox/confinement';
import type { Confinement } from '@fixpoint/execution/sandbox/limits';
import { DEFAULT_LIMITS } from '@fixpoint/execution/sandbox/limits';
import type { Plan } from '../domain/ladder.ts';
import type { PrimitiveCalls } from '../ladder/primitive-calls.ts';
import type { RecipeEvidence } from '../ladder/trace.ts';

export type NodeReady = EventNamed<'node_ready'>['data'];
export type GovernancePassed = EventNamed<'governance_passed'>['data'];
export type NodeVerifiedAction = EventNamed<'node_verified_action'>['data'];

/** Phase of the leases of runs. */
export const ACTION_PHASE = 'action';

/** One run that may start: what to do, under which mode, and what the gate said. */
export interface Assignment {
  readonly nodeReady: NodeReady;
  readonly passed: GovernancePassed;
  readonly mode: ModeSpec;
  /** What a check of the output is asked about in a check run: what the judged run put out. Null otherwise. */
  readonly evidence: RecipeEvidence | null;
}

/** What of the node decides about the ladder. */
export const planOf = (nodeReady: NodeReady, runKind: Plan['runKind']): Plan => {
  const { node, judges } = nodeReady;
  return {
    kind: node.kind,
    runKind,
    policy: node.policy,
    hasPostcondition: node.postcondition !== null,
    checksOutput: checksOutput(node),
    repairs: node.policy === 'recover' && isProgram(node.recipe) ? node.max_repair_attempts : 0,
    agents: node.policy === 'recover' ? node.max_agent_attempts : 0,
    judges,
    attested: restsOnWord(nodeReady),
  };
};

/** Whether a run may start a process for what a document says; git of the machinery is none. */
const runsCommands = ({ node, run_kind: kind }: NodeReady): boolean => {
  if (kind === 'deliver') return false;
  const { recipe, postcondition, max_agent_attempts: agents } = node;
  if (isProgram(recipe) || kind === 'agent' || agents > 0) return true;
  return postcondition?.all.some((check) => 'command' in check) ?? false;
};

/** How the commands of a run are run, or why it is not started. */
export const confinementOf = (
  policy: SandboxPolicy,
  { nodeReady, mode }: Pick<Assignment, 'nodeReady' | 'mode'>,
): Confinement | Refused => {
  if (!runsCommands(nodeReady)) return { sandboxed: true, network: false, readable: [], limits: DEFAULT_LIMITS };
  return confinementFor(policy, mode, { network: nodeReady.node.network === true });
};

/** Needs neither a process nor a folder: it only runs and checks, no file is its output, recipe and checks are primitives of that kind, or look at the output only. */
export const isInProcess = (
  { node, run_kind: kind }: Pick<NodeReady, 'node' | 'run_kind'>,
  primitives: Pick<PrimitiveCalls, 'isInProcess'>,
): boolean => {
  if (kind !== 'normal' && kind !== 'check') return false;
  if (node.output_file !== undefined) return false;
  if (!('primitive' in node.recipe) || !primitives.isInProcess(node.recipe.primitive)) return false;
  return (node.postcondition?.all ?? []).every((check) => {
    if ('primitive' in check) return primitives.isInProcess(check.primitive);
    return !('command' in check);
  });
};
