import type { TaskSpec } from '@fixpoint/contracts/documents/task';
import type { EventNamed, LineageEvent } from '@fixpoint/contracts/events/catalogue';
import type { Json } from '@fixpoint/contracts/json';
import { fold } from '@fixpoint/decider/decider';
import { admitTask } from '@fixpoint/documents/admit-task';
import { builtInMode, builtInProtocolRef } from '@fixpoint/documents/built-in-protocol';
import { knownPrimitives } from '@fixpoint/execution/primitives/primitives';
import { lineage } from '@fixpoint/orchestrator/domain/lineage/decide';
import { askCondition } from '@fixpoint/validation/condition';

/** @throws with the diagnostics of a document that is not admitted. */
export const admittedSpec = (text: string): TaskSpec => {
  const known = { knownPrimitives, knownModels: ['default'], knownAgents: null, knownModes: ['build'] };
  const admission = admitTask(text, { ...known, relativeGitUrl: 'refused' });
  if (!admission.admitted) throw new Error(JSON.stringify(admission.diagnostics));
  return admission.spec;
};

const CONTEXT = { now: '2026-01-01T00:00:00.000Z', mode: builtInMode, askCondition };

const readyIn = (facts: readonly LineageEvent[]): EventNamed<'node_ready'>['data'] => {
  const ready = facts.find((fact) => fact.type === 'node_ready');
  if (ready?.type !== 'node_ready') throw new Error(JSON.stringify(facts));
  return ready.data;
};

/** The first run of a task's second node, as the decider makes it ready once the first one has put out `output`. */
export const secondRun = (spec: TaskSpec, output: Json): EventNamed<'node_ready'>['data'] => {
  let state = lineage.initial;
  const decide = (command: object): readonly LineageEvent[] => {
    const facts = lineage.decide({ ...command, ...CONTEXT } as never, state);
    state = fold(lineage, state, facts);
    return facts;
  };
  const submit = { type: 'submit_task', root: 'r', spec, specHash: 'a'.repeat(64), protocol: builtInProtocolRef };
  const first = readyIn(decide({ ...submit, idempotencyKey: null }));
  const ref = { root: 'r', task: 'r', address: '0', run: first.run };
  const spent = { duration_ms: 1, money_micros: 0, tokens: 0 };
  const left = { workspace_ref: null, output, output_artifact: null };
  const result = { ...ref, outcome: 'satisfied', rung: 'recipe', spent, ...left };
  const judgement = { ...ref, outcome: 'proceed', verdicts: [], triggering_validators: [], signature: '' };
  return readyIn(decide({ type: 'judge_run', judgement, result }));
};
