import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import {
  type EpicPage,
  type EventPage,
  epicPageSchema,
  eventPageSchema,
  type LineageDetail,
  type LineagePage,
  lineageDetailSchema,
  lineagePageSchema,
  type RunPage,
  runPageSchema,
  type TaskPage,
  taskPageSchema,
} from '@fixpoint/contracts/rest/audit';
import {
  type HandoffDetail,
  type HandoffPage,
  handoffDetailSchema,
  handoffPageSchema,
} from '@fixpoint/contracts/rest/audit-handoffs';
import type {
  DeadLettersQuery,
  EpicsQuery,
  EventsQuery,
  HandoffsQuery,
  LineagesQuery,
  ProvidersQuery,
  RunsQuery,
  TasksQuery,
} from '@fixpoint/contracts/rest/audit-queries';
import { type CancelledTask, type CancelTask, cancelledTaskSchema } from '@fixpoint/contracts/rest/cancel';
import {
  type DeadLetterDetail,
  type DeadLetterPage,
  type DiscardDeadLetter,
  deadLetterDetailSchema,
  deadLetterPageSchema,
  type HandledDeadLetter,
  handledDeadLetterSchema,
  type ReplayDeadLetter,
} from '@fixpoint/contracts/rest/dead-letters';
import type { EscalateInput } from '@fixpoint/contracts/rest/escalations';
import {
  type ClaimedHandoff,
  type ClaimHandoff,
  claimedHandoffSchema,
  type DecidedHandoff,
  type DecideHandoff,
  decidedHandoffSchema,
} from '@fixpoint/contracts/rest/handoffs';
import {
  type ProtocolDetail,
  type ProtocolDiff,
  type ProtocolDiffQuery,
  type ProtocolList,
  type PublishedProtocol,
  protocolDetailSchema,
  protocolDiffSchema,
  protocolListSchema,
  publishedProtocolSchema,
  type WithdrawnProtocol,
  withdrawnProtocolSchema,
} from '@fixpoint/contracts/rest/protocols';
import {
  type ProviderPage,
  providerPageSchema,
  type ResumedProvider,
  type ResumeProvider,
  resumedProviderSchema,
} from '@fixpoint/contracts/rest/providers';
import {
  type BatchSubmitted,
  batchSubmittedSchema,
  type DocumentInput,
  type SubmitTask,
  type Submitted,
  submittedSchema,
} from '@fixpoint/contracts/rest/tasks';
import { UnexpectedAnswer } from './api-error.ts';
import { type FollowOptions, follow } from './follow.ts';
import { ask, type Call, type Connection, send } from './http.ts';
import { type Ended, waitForEnd } from './wait-for-end.ts';

export interface ClientOptions {
  /** Base URL of the write API. */
  readonly writeUrl: string;
  /** Base URL of the read API; the same where one process holds both. */
  readonly auditUrl: string;
  /** Null where no keys are configured. */
  readonly apiKey: string | null;
  /** Longest wait for an answer, ms; default 30,000. */
  readonly timeoutMs?: number;
}

/**
 * Both APIs. Every method but `follow` and `artifact` answers within `timeoutMs`.
 * @throws {ApiError} the API refused: see `code`. @throws {Unreachable} no answer: what became of a write is not known,
 * so give writes an idempotency key and send them again. @throws {UnexpectedAnswer} not this API.
 */
export interface Client {
  submit(task: SubmitTask): Promise<Submitted>;
  /** One result per task, in order; a refused one does not stop the others. */
  submitBatch(tasks: readonly SubmitTask[]): Promise<BatchSubmitted>;
  /** Hands over work that a producer could not finish. */
  escalate(escalation: EscalateInput): Promise<Submitted>;
  /** Ends a lineage, or one child of it, with all that is below. Asked again, it changes nothing. */
  cancel(lineage: string, order?: Partial<CancelTask>): Promise<CancelledTask>;
  publishProtocol(document: DocumentInput): Promise<PublishedProtocol>;
  /** Every version of a project's protocol, the first one first. */
  protocols(project: string): Promise<ProtocolList>;
  protocol(project: string, version: number): Promise<ProtocolDetail>;
  protocolDiff(project: string, versions: ProtocolDiffQuery): Promise<ProtocolDiff>;
  /** Nothing new is started or admitted under this version any more. */
  withdrawProtocol(project: string, version: number, reason: string): Promise<WithdrawnProtocol>;
  /** With its tasks as a tree. @param after cursor of a write that it must show. */
  lineage(id: string, after?: string): Promise<LineageDetail>;
  lineages(query?: Partial<LineagesQuery>): Promise<LineagePage>;
  tasks(query?: Partial<TasksQuery>): Promise<TaskPage>;
  runs(query?: Partial<RunsQuery>): Promise<RunPage>;
  epics(query?: Partial<EpicsQuery>): Promise<EpicPage>;
  events(query?: Partial<EventsQuery>): Promise<EventPage>;
  handoffs(query?: Partial<HandoffsQuery>): Promise<HandoffPage>;
  /** With everything that was said of it. @param after cursor of a write that it must show. */
  handoff(id: string, after?: string): Promise<HandoffDetail>;
  /** Models and hosts that runs met faults of. */
  providers(query?: Partial<ProvidersQuery>): Promise<ProviderPage>;
  /** Has a paused one probed at once. */
  resumeProvider(provider: string, order?: Partial<ResumeProvider>): Promise<ResumedProvider>;
  deadLetters(query?: Partial<DeadLettersQuery>): Promise<DeadLetterPage>;
  /** With the event that was given up, and all that was done about it. @param after cursor of a write that it must show. */
  deadLetter(letter: string, after?: string): Promise<DeadLetterDetail>;
  /** Offers its event to its reader once more. */
  replayDeadLetter(letter: string, order?: Partial<ReplayDeadLetter>): Promise<HandledDeadLetter>;
  /** Has its reader go on without the event. */
  discardDeadLetter(letter: string, order?: Partial<DiscardDeadLetter>): Promise<HandledDeadLetter>;
  /** Decides what a human was asked for; a dry run says what would follow. */
  decideHandoff(handoff: string, order: DecideHandoff, dryRun?: boolean): Promise<DecidedHandoff>;
  /** Nobody else decides it for a while. */
  claimHandoff(handoff: string, order: ClaimHandoff): Promise<ClaimedHandoff>;
  /** Events of a lineage, those that are there and then those that come; ends when you leave the loop. */
  follow(lineage: string, options?: FollowOptions): AsyncIterable<RecordedEvent>;
  /** The bytes, as they come. */
  artifact(hash: string): Promise<AsyncIterable<Uint8Array>>;
  /** Waits until nothing moves any more: ended, or with a human. Tells the state either way. */
  waitForEnd(lineage: string, timeoutMs: number): Promise<Ended>;
}

/** A question to the audit API. */
const get = (path: string, query: NonNullable<Call['query']> = {}): Call => ({
  method: 'GET',
  path: `v1/audit/${path}`,
  query,
});

/** A client of an installation. Holds no connection open and needs no closing. */
export const fixpointClient = (options: ClientOptions): Client => {
  const { apiKey, timeoutMs = 30_000 } = options;
  const write: Connection = { baseUrl: options.writeUrl, apiKey, timeoutMs };
  const audit: Connection = { baseUrl: options.auditUrl, apiKey, timeoutMs };
  const post = (path: string, body: unknown): Call => ({ method: 'POST', path, body });
  const lineage = (id: string, after?: string): Promise<LineageDetail> =>
    ask(audit, get(`lineages/${encodeURIComponent(id)}`, { after }), lineageDetailSchema);
  return {
    submit: (task) => ask(write, post('v1/tasks', task), submittedSchema),
    submitBatch: (tasks) => ask(write, post('v1/tasks', { tasks }), batchSubmittedSchema),
    escalate: (escalation) => ask(write, post('v1/escalations', escalation), submittedSchema),
    cancel: (id, order = {}) =>
      ask(write, post(`v1/tasks/${encodeURIComponent(id)}/cancel`, order), cancelledTaskSchema),
    publishProtocol: (document) => ask(write, post('v1/protocols', { document }), publishedProtocolSchema),
    ...protocolsAt(write),
    lineage,
    lineages: (query) => ask(audit, get('lineages', query), lineagePageSchema),
    tasks: (query) => ask(audit, get('tasks', query), taskPageSchema),
    runs: (query) => ask(audit, get('runs', query), runPageSchema),
    epics: (query) => ask(audit, get('epics', query), epicPageSchema),
    events: (query) => ask(audit, get('events', query), eventPageSchema),
    ...providersAt(write, audit),
    deadLetters: (query) => ask(audit, get('dead-letters', query), deadLetterPageSchema),
    deadLetter: (letter, after) =>
      ask(audit, get(`dead-letters/${encodeURIComponent(letter)}`, { after }), deadLetterDetailSchema),
    replayDeadLetter: (letter, order = {}) =>
      ask(write, post(letterPath(letter, 'replay'), order), handledDeadLetterSchema),
    discardDeadLetter: (letter, order = {}) =>
      ask(write, post(letterPath(letter, 'discard'), order), handledDeadLetterSchema),
    ...handoffsAt(write, audit),
    follow: (id, followed) => follow(audit, id, followed),
    artifact: async (hash) => {
      const { body } = await send(audit, get(`artifacts/${encodeURIComponent(hash)}`));
      if (body === null) throw new UnexpectedAnswer(`artifact ${hash}: no body`);
      return body;
    },
    waitForEnd: (id, waitMs) =>
      waitForEnd({ lineage: (after) => lineage(id, after), events: (signal) => follow(audit, id, { signal }) }, waitMs),
  };
};

const handoffsAt = (
  write: Connection,
  audit: Connection,
): Pick<Client, 'handoffs' | 'handoff' | 'decideHandoff' | 'claimHandoff'> => ({
  handoffs: (query) => ask(audit, get('handoffs', query), handoffPageSchema),
  handoff: (id, after) => ask(audit, get(`handoffs/${encodeURIComponent(id)}`, { after }), handoffDetailSchema),
  decideHandoff: (handoff, body, dryRun = false) => {
    const query = dryRun ? { dry_run: 'true' } : {};
    return ask(write, { method: 'POST', path: handoffPath(handoff, 'decisions'), body, query }, decidedHandoffSchema);
  },
  claimHandoff: (handoff, body) =>
    ask(write, { method: 'POST', path: handoffPath(handoff, 'claim'), body }, claimedHandoffSchema),
});

const providersAt = (write: Connection, audit: Connection): Pick<Client, 'providers' | 'resumeProvider'> => ({
  providers: (query) => ask(audit, get('providers', query), providerPageSchema),
  resumeProvider: (provider, body = {}) => {
    const path = `v1/providers/${encodeURIComponent(provider)}/resume`;
    return ask(write, { method: 'POST', path, body }, resumedProviderSchema);
  },
});

/** What a project has published. */
const protocolsAt = (
  write: Connection,
): Pick<Client, 'protocols' | 'protocol' | 'protocolDiff' | 'withdrawProtocol'> => ({
  protocols: (project) => ask(write, { method: 'GET', path: protocolPath(project) }, protocolListSchema),
  protocol: (project, version) =>
    ask(write, { method: 'GET', path: protocolPath(project, String(version)) }, protocolDetailSchema),
  protocolDiff: (project, { from, to }) => {
    const query = { from: String(from), to: String(to) };
    return ask(write, { method: 'GET', path: protocolPath(project, 'diff'), query }, protocolDiffSchema);
  },
  withdrawProtocol: (project, version, reason) =>
    ask(
      write,
      { method: 'POST', path: protocolPath(project, `${version}/withdraw`), body: { reason } },
      withdrawnProtocolSchema,
    ),
});

const protocolPath = (project: string, rest?: string): string =>
  `v1/protocols/${encodeURIComponent(project)}${rest === undefined ? '' : `/${rest}`}`;
const handoffPath = (handoff: string, order: 'decisions' | 'claim'): string =>
  `v1/handoffs/${encodeURIComponent(handoff)}/${order}`;

const letterPath = (letter: string, order: 'replay' | 'discard'): string =>
  `v1/dead-letters/${encodeURIComponent(letter)}/${order}`;
