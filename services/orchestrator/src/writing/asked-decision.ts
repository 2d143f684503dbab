import { contentHash } from '@fixpoint/contracts/content-hash';
import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import type { Decision } from '@fixpoint/contracts/human-decision';
import type { AskedDecision } from '@fixpoint/contracts/rest/handoffs';
import { Refused } from '@fixpoint/decider/refused';

type Handoff = EventNamed<'human_required'>['data'];
type Lifting = Extract<AskedDecision, { kind: 'approve' | 'override' }>;

/** A decision as it is signed and recorded: with all that it binds to. @throws {Refused} */
export const boundDecision = (asked: AskedDecision, handoff: Handoff, nodes: readonly NodeSpec[] | null): Decision => {
  switch (asked.kind) {
    case 'retry':
      return { kind: 'retry', from_node: asked.from_node ?? null };
    case 'amend':
      return { kind: 'amend', spec_hash: contentHash(nodes) };
    case 'approve':
    case 'override':
      return lifting(asked, handoff);
    case 'split':
      return { kind: 'split', hint: asked.hint ?? null };
    case 'resolve':
      return { kind: 'resolve', ref: asked.ref ?? null, exclude_children: asked.exclude_children ?? [] };
    default:
      return asked;
  }
};

const SEVERITY = { approve: 'warning', override: 'blocker' } as const;

const lifting = ({ kind, validators }: Lifting, { judged, verdicts, slice }: Handoff): Decision => {
  if (judged === null) throw new Refused('decision_not_allowed', `${kind}: the handoff is about no judgement`);
  const shown = verdicts.filter(({ severity, error }) => severity === SEVERITY[kind] && !error);
  const unknown = (validators ?? []).filter((id) => !shown.some(({ validator }) => validator === id));
  if (unknown.length > 0) throw new Refused('verdict_unknown', unknown.join(', '));
  const named = shown.filter(({ validator }) => validators === undefined || validators.includes(validator));
  if (named.length === 0) throw new Refused('nothing_to_lift', `no ${SEVERITY[kind]} stands in the handoff`);
  return {
    ...{ kind, task: slice.task, run: judged.run, phase: judged.phase, spec_hash: judged.spec_hash },
    tree: judged.workspace_ref?.tree ?? null,
    lifts: named.map(({ validator, evidence_hash }) => ({ validator, evidence_hash })),
  };
};
