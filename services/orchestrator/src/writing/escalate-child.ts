import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { parseEvent } from '@fixpoint/contracts/events/parse-event';
import { cursorToken } from '@fixpoint/contracts/rest/cursor-token';
import type { BatchResult } from '@fixpoint/contracts/rest/tasks';
import { lineageStream } from '@fixpoint/contracts/streams';
import { fold } from '@fixpoint/decider/decider';
import type { Cause } from '@fixpoint/event-store/decision-plan';
import { publicationsOf } from '@fixpoint/messaging/publisher';
import { lineage } from '../domain/lineage/decide.ts';
import { escalatedAs } from '../domain/lineage/epics/escalate-child.ts';
import { LineageUnknown } from '../lineages.ts';
import type { LineageAnswer } from '../reactions/react.ts';
import { type Admitted, refusal, type SubmitDeps } from './submit.ts';

const ESCALATE_CHILD = 'orchestrator__escalate_child';

export interface Escalated extends Pick<Admitted, 'diagnostics'> {
  readonly root: string;
  readonly command: Extract<LineageAnswer, { type: 'escalate_child' }>;
  readonly cause: Pick<Cause, 'id' | 'time' | 'actor'>;
}

/**
 * Hands work to the lineage that it came from.
 * @returns null where that is not there, has ended or has no room: the work is not lost, it becomes a lineage of its own.
 */
export const escalateChild = async (deps: SubmitDeps, escalated: Escalated): Promise<BatchResult | null> => {
  const { root, command, cause } = escalated;
  const decision = await deps.lineages
    .commandFor({ root, command, cause: { ...cause, id: `escalate:${command.key}` }, nodeReady: null })
    .catch(unknown);
  if (decision === null) return null;
  const [outcome] = await deps.lineages.decide(ESCALATE_CHILD, [decision]);
  if (outcome?.outcome === 'refused') return refusedAs(outcome.refused.code);
  if (outcome?.outcome !== 'decided') throw outcome?.error ?? new Error('an escalation was not decided');
  deps.publisher.publish(publicationsOf(outcome.events, null));
  return found(deps, escalated, outcome.events.length > 0);
};

const unknown = (error: unknown): null => {
  if (error instanceof LineageUnknown) return null;
  throw error;
};

const refusedAs = (code: string): BatchResult | null =>
  code === 'idempotency_key_reused'
    ? refusal(409, code, { detail: 'this idempotency key was used for another escalation', diagnostics: [] })
    : null;

const found = async (
  { store }: SubmitDeps,
  { root, command, diagnostics }: Escalated,
  created: boolean,
): Promise<BatchResult> => {
  const history = await store.readStream(lineageStream(root));
  const facts = history.map((event) => parseEvent(event) as LineageEvent);
  const state = fold(lineage, lineage.initial, facts);
  const child = state.status === 'unknown' ? null : escalatedAs(state, command.key);
  const last = history.at(-1);
  if (child === null || last === undefined) throw new Error(`an escalation to ${root} exists and can not be found`);
  return {
    ...{ outcome: 'accepted', http_status: created ? 202 : 200, lineage: root, task: child.id, created },
    ...{ spec_hash: command.specHash, cursor: cursorToken(last.cursor), diagnostics: [...diagnostics] },
  };
};
