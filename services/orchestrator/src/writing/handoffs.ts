import { rootOfId } from '@fixpoint/contracts/addresses';
import type { Clock, Ids } from '@fixpoint/contracts/clock';
import { sha256 } from '@fixpoint/contracts/content-hash';
import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { EventNamed, LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { parseEvent } from '@fixpoint/contracts/events/parse-event';
import type { Authenticated, Decision } from '@fixpoint/contracts/human-decision';
import { cursorToken } from '@fixpoint/contracts/rest/cursor-token';
import type {
  AskedDecision,
  ClaimedHandoff,
  ClaimHandoff,
  DecidedHandoff,
  DecideHandoff,
} from '@fixpoint/contracts/rest/handoffs';
import { lineageStream } from '@fixpoint/contracts/streams';
import { fold } from '@fixpoint/decider/decider';
import { Refused } from '@fixpoint/decider/refused';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { type Publisher, publicationsOf } from '@fixpoint/messaging/publisher';
import { badInput } from '@fixpoint/runtime/http-problem';
import { lineage } from '../domain/lineage/decide.ts';
import { type LineageDecision, type Lineages, LineageUnknown } from '../lineages.ts';
import type { LineageAnswer } from '../reactions/react.ts';
import { admit } from './admission.ts';
import { boundDecision } from './asked-decision.ts';
import { revokeRuns } from './revoke-runs.ts';
import type { SignDecision } from './sign-decision.ts';

const HANDOFFS = 'orchestrator__handoffs';

/** A longer comment is an artifact. */
const COMMENT_BYTES = 2 * 1024;

export interface HandoffDeps {
  readonly store: Pick<EventStore, 'readStream' | 'append'>;
  readonly lineages: Lineages;
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly artifacts: Pick<Artifacts, 'put'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Ids;
  /** Null where no key is configured: nothing can be decided. */
  readonly sign: SignDecision | null;
}

export interface Decider {
  readonly actor: string;
  readonly authenticated: Authenticated;
}

interface Order extends Decider {
  readonly handoff: string;
  readonly body: DecideHandoff;
  readonly dryRun: boolean;
}

type Command = Extract<LineageAnswer, { type: 'decide_handoff' }>;

/**
 * Decides a handoff, or says what would follow. The same decision sent again changes nothing and is told again.
 * @throws {Refused} what the handoff does not allow. @throws {HttpProblem} for a document that is none.
 */
export const decideHandoff = async (deps: HandoffDeps, order: Order): Promise<DecidedHandoff> => {
  const { handoff, body, dryRun } = order;
  const history = await historyOf(deps.store, handoff);
  const known = history.find((event) => isDecisionOf(event, body.decision_id));
  if (known !== undefined) return told(order, history, known);
  const command = await commandOf(deps, order, openedIn(history, handoff));
  const root = rootOfId(handoff);
  const cause = { id: `decide:${command.decisionId}`, time: deps.clock.now().toISOString(), actor: order.actor };
  const decision = await deps.lineages.commandFor({ root, command, cause, nodeReady: null });
  const events = dryRun ? foreseen(history, decision) : await stored(deps, decision);
  const cursor = lastCursor(events);
  return { ...answerOf(command, events), dry_run: dryRun, changed: !dryRun && events.length > 0, cursor };
};

const historyOf = async (store: HandoffDeps['store'], handoff: string): Promise<readonly RecordedEvent[]> => {
  const history = await store.readStream(lineageStream(rootOfId(handoff)));
  if (history.length === 0) throw new Refused('handoff_unknown', handoff);
  return history;
};

const isDecisionOf = (event: RecordedEvent, id: string | undefined): boolean =>
  id !== undefined && event.type === 'human_decided' && (event.data as { decision_id?: string }).decision_id === id;

const openedIn = (history: readonly RecordedEvent[], handoff: string): EventNamed<'human_required'>['data'] => {
  for (const event of history) {
    const fact = event.type === 'human_required' ? parseEvent(event) : null;
    if (fact?.type === 'human_required' && fact.data.handoff === handoff) return fact.data;
  }
  throw new Refused('handoff_unknown', handoff);
};

type Opened = ReturnType<typeof openedIn>;

const commandOf = async (deps: HandoffDeps, order: Order, opened: Opened): Promise<Command> => {
  if (deps.sign === null) throw new Refused('decisions_not_signed', 'this installation has no key for decisions');
  const { handoff, body, actor, authenticated } = order;
  const nodes = await nodesOf(deps, body.decision);
  const decision = boundDecision(body.decision, opened, nodes);
  const decisionId = body.decision_id ?? deps.ids.uuid();
  const comment = body.comment ?? null;
  const signature = deps.sign({
    ...{ root: opened.root, task: opened.task, handoff, handoff_version: body.version, decision_id: decisionId },
    ...{ who: actor, authenticated, what: decision, when: deps.clock.now().toISOString() },
    comment_hash: comment === null ? null : sha256(comment),
  });
  const kept = order.dryRun ? { comment: null, commentArtifact: null } : await keptComment(deps, comment);
  const who = { actor, authenticated, signature };
  return { type: 'decide_handoff', handoff, version: body.version, decisionId, decision, nodes, ...who, ...kept };
};

const nodesOf = async (
  { lineages: { models } }: HandoffDeps,
  asked: AskedDecision,
): Promise<readonly NodeSpec[] | null> => {
  if (asked.kind !== 'amend') return null;
  const admission = await admit(asked.document, { models, modesOf: async () => [] });
  const errors = admission.diagnostics.filter(({ severity, code }) => severity === 'error' && code !== 'FX113');
  if (!admission.admitted) throw badInput(admission.code, errors[0]?.message ?? 'it can not be read', errors);
  return admission.spec.nodes;
};

const keptComment = async ({ artifacts }: HandoffDeps, comment: string | null) => {
  const bytes = Buffer.from(comment ?? '');
  if (bytes.length <= COMMENT_BYTES) return { comment, commentArtifact: null };
  return { comment: null, commentArtifact: (await artifacts.put(bytes)).hash };
};

/** What would be appended now. @throws {Refused} */
const foreseen = (history: readonly RecordedEvent[], { command }: LineageDecision): readonly LineageEvent[] =>
  lineage.decide(command, fold(lineage, lineage.initial, history as unknown as readonly LineageEvent[]));

const stored = async (deps: HandoffDeps, decision: LineageDecision): Promise<readonly RecordedEvent[]> => {
  const [outcome] = await deps.lineages.decide(HANDOFFS, [decision]);
  if (outcome?.outcome === 'refused') throw outcome.refused;
  if (outcome?.outcome !== 'decided') throw outcome?.error ?? new Error('a decision was not decided');
  deps.publisher.publish(publicationsOf(outcome.events, null));
  await revokeRuns(deps, outcome.events);
  return outcome.events;
};

type Shown = Pick<RecordedEvent, 'type' | 'data'> | LineageEvent;

const lastCursor = (events: readonly (RecordedEvent | LineageEvent)[]): string | null => {
  const last = events.at(-1);
  return last !== undefined && 'cursor' in last ? cursorToken(last.cursor) : null;
};

const answerOf = (
  { handoff, decisionId, decision }: { readonly handoff: string; readonly decisionId: string; decision: Decision },
  events: readonly Shown[],
) => ({
  ...{ handoff, lineage: rootOfId(handoff), decision_id: decisionId, decision },
  events: events.map(({ type, data }) => ({ type, data: data as Record<string, unknown> })),
});

/** A decision that had been taken: what it had led to at once. @throws {Refused} for another handoff under its id. */
const told = ({ handoff }: Order, history: readonly RecordedEvent[], known: RecordedEvent): DecidedHandoff => {
  const fact = parseEvent(known);
  if (fact.type !== 'human_decided' || fact.data.handoff !== handoff) {
    throw new Refused('decision_id_reused', 'this id was used for another handoff');
  }
  const { decision_id: decisionId, decision } = fact.data;
  const same = history.filter(({ metadata }) => metadata.causation_id === known.metadata.causation_id);
  const answer = answerOf({ handoff, decisionId, decision }, same);
  return { ...answer, dry_run: false, changed: false, cursor: lastCursor(same) };
};

type Claim = ClaimHandoff & Pick<Decider, 'actor'> & { readonly handoff: string };

/** Nobody else decides it for a while. @throws {Refused} */
export const claimHandoff = async (deps: HandoffDeps, claim: Claim): Promise<ClaimedHandoff> => {
  const { handoff, version, actor, for_ms: forMs } = claim;
  const root = rootOfId(handoff);
  const cause = { id: deps.ids.uuid(), time: deps.clock.now().toISOString(), actor };
  const command = { type: 'claim_handoff', handoff, version, actor, forMs } as const;
  const decision = await deps.lineages.commandFor({ root, command, cause, nodeReady: null }).catch(unknown(handoff));
  const events = await stored(deps, decision);
  const [event] = events;
  const fact = event && parseEvent(event);
  if (fact?.type !== 'handoff_claimed') throw new Error('a claim was not recorded');
  const { by, until, expires_at } = fact.data;
  const cursor = lastCursor(events) ?? '';
  return { handoff, lineage: root, version: fact.data.version, by, until, expires_at, changed: true, cursor };
};

const unknown =
  (handoff: string) =>
  (error: unknown): never => {
    throw error instanceof LineageUnknown ? new Refused('handoff_unknown', handoff) : error;
  };
