import type { ProtocolSpec } from '@fixpoint/contracts/documents/protocol';
import { admitTask } from '@fixpoint/documents/admit-task';
import { builtInProtocol } from '@fixpoint/documents/built-in-protocol';
import type { Diagnostic } from '@fixpoint/documents/diagnostics';
import { parseProtocol } from '@fixpoint/documents/parse-protocol';
import { readSource } from '@fixpoint/documents/text/source-text';
import { type WorstCase, worstCase } from '@fixpoint/documents/worst-case';
import { knownPrimitives } from '@fixpoint/execution/primitives/primitives';
import { deniedBy } from '@fixpoint/validation/command-rules';

export interface Linted {
  readonly diagnostics: readonly Diagnostic[];
  /** What the task can cost at most; null for protocols, for what is no good, and for a mode that is not known here. */
  readonly worst_case: WorstCase | null;
}

/**
 * What is wrong with a document, as far as can be told without an installation.
 * @param protocol what the task is to run under; null: the built-in one, and any mode may be there.
 */
export const lintDocument = (text: string, protocol: ProtocolSpec | null): Linted => {
  if (kindOf(text) === 'protocol/v1') {
    return { diagnostics: parseProtocol(text, { knownPrimitives, deniedBy }).diagnostics, worst_case: null };
  }
  const admission = admitTask(text, {
    knownPrimitives,
    ...{ knownModels: null, knownAgents: null },
    knownModes: protocol === null ? null : Object.keys(protocol.modes),
    relativeGitUrl: 'allowed',
  });
  if (!admission.admitted) return { diagnostics: admission.diagnostics, worst_case: null };
  const { modes } = protocol ?? builtInProtocol;
  const mode = Object.hasOwn(modes, admission.spec.mode) ? modes[admission.spec.mode] : undefined;
  return {
    diagnostics: admission.diagnostics,
    worst_case: mode === undefined ? null : worstCase(admission.spec, mode),
  };
};

/** `kind` of a document, or what stands there. */
export const kindOf = (text: string): unknown => {
  const value = readSource(text).source?.value;
  return typeof value === 'object' && value !== null && 'kind' in value ? value.kind : null;
};
