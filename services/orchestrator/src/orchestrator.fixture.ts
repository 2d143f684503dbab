import { contentHash } from '@fixpoint/contracts/content-hash';
import type { ModeSpec } from '@fixpoint/contracts/documents/protocol';
import type { TaskSpec } from '@fixpoint/contracts/documents/task';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { EventNamed, EventType } from '@fixpoint/contracts/events/catalogue';
import { definitionOf } from '@fixpoint/contracts/events/catalogue';
import { actionStream, gateStream, lineageStream } from '@fixpoint/contracts/streams';
import { eventId } from '@fixpoint/event-store/event-id';
import { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import type { Offer, Publication } from '@fixpoint/messaging/bus';
import { simulatedClock } from '@fixpoint/testing/simulated-clock';
import { askCondition } from '@fixpoint/validation/condition';
import { decideReader } from './decide-reader.ts';
import type { RunResult } from './domain/lineage/commands.ts';
import { HASH, mode, ROOT, taskSpec } from './domain/lineage/lineage.fixture.ts';
import { lineagesOf } from './lineages.ts';
import { Providers } from './providers/providers.ts';
import { Admissions, NO_WINDOW, type Window } from './queue/admissions.ts';
import { dispatch } from './queue/dispatch.ts';
import { memoryQueue } from './queue/memory-queue.ts';
import { runResults } from './run-results.ts';
import { memoryWaits } from './waits/memory-waits.ts';

const NOTHING = { money_micros: 0, tokens: 0 };

/** The orchestrator on a memory store and a clock that stands still, with everything that it published. */
export class World {
  readonly clock = simulatedClock();
  readonly store = new MemoryEventStore();
  readonly published: Publication[] = [];
  readonly reported: string[] = [];
  readonly publisher = {
    publish: (publications: readonly Publication[]) => void this.published.push(...publications),
    settled: () => Promise.resolve(),
  };
  readonly lineages;
  readonly results = runResults(this.store);
  readonly reader;
  private causes = 0;

  readonly waits = memoryWaits(this.store, this.clock);
  readonly queue = memoryQueue(this.waits, this.clock);
  readonly admissions;
  readonly providers = this.successor();
  private readonly turn;

  constructor(modeSpec: ModeSpec = mode(), window: Window = NO_WINDOW) {
    this.admissions = new Admissions(window);
    const catalog = { modeOf: () => Promise.resolve(modeSpec) };
    this.lineages = lineagesOf({
      ...{ store: this.store, catalog, clock: this.clock, admissions: this.admissions },
      stored: (events) => this.providers.note(events),
    });
    this.reader = decideReader({
      store: this.store,
      lineages: this.lineages,
      results: this.results,
      publisher: this.publisher,
      report: (what) => void this.reported.push(what),
      deadLetter: () => Promise.resolve(),
    });
    this.mode = modeSpec;
    this.turn = dispatch({
      ...{ queue: this.queue, admissions: this.admissions, lineages: this.lineages, publisher: this.publisher },
      ...{ clock: this.clock, providers: this.providers },
      report: (error) => void this.reported.push(String(error)),
      measure: () => undefined,
      measureProviders: () => undefined,
    });
  }
  private readonly mode: ModeSpec;

  /** What another process would know of providers. */
  successor(): Providers {
    return new Providers({
      ...{ store: this.store, snapshots: null, clock: this.clock, jitter: () => 0 },
      ids: { uuid: () => crypto.randomUUID() },
      rows: () => this.queue.providers(),
      report: (error) => void this.reported.push(String(error)),
    });
  }

  async submit(root = ROOT, spec: TaskSpec = taskSpec()): Promise<void> {
    const submit = { type: 'submit_task', root, spec, specHash: contentHash(spec), idempotencyKey: null } as const;
    const protocol = { name: 'p', version: 1, hash: HASH };
    const now = this.clock.now().toISOString();
    const cause = { id: `submit ${root}`, time: now, actor: 'local', correlation_id: root };
    const command = { ...submit, protocol, now, mode: this.mode, askCondition };
    await this.lineages.decide('spec__submit', [{ root, command, cause }]);
  }

  /** Lets the dispatcher look once, at everything that is in the log. */
  async dispatch(): Promise<void> {
    await this.waits.keep(AbortSignal.abort());
    await this.turn(AbortSignal.abort());
  }

  /** Types on the lineage, in order. */
  async types(root = ROOT): Promise<string[]> {
    return (await this.store.readStream(lineageStream(root))).map((event) => event.type);
  }

  async newest<Type extends EventType>(type: Type, root = ROOT): Promise<EventNamed<Type>['data']> {
    const event = (await this.store.readStream(lineageStream(root))).findLast((each) => each.type === type);
    if (!event) throw new Error(`no ${type}`);
    return event.data as EventNamed<Type>['data'];
  }

  /** Appends what another service says, at the end of its stream. */
  async say<Type extends EventType>(
    stream: string,
    type: Type,
    data: EventNamed<Type>['data'],
  ): Promise<RecordedEvent> {
    const { version } = definitionOf(type) ?? { version: 1 };
    return this.append(stream, { type, schema_version: version, data });
  }

  async append(stream: string, said: { type: string; schema_version: number; data: unknown }): Promise<RecordedEvent> {
    this.causes += 1;
    const cause = `cause ${this.causes}`;
    const time = this.clock.now().toISOString();
    const history = await this.store.readStream(stream);
    const root = (said.data as { root?: string }).root ?? ROOT;
    const id = eventId({ causeId: cause, causeTime: time, handler: 'spec', stream, index: 0 });
    const metadata = { causation_id: cause, correlation_id: root, producer: 'spec', actor: 'local' };
    const event = { ...said, id, metadata, occurred_at: time };
    const outcome = await this.store.append({ stream, root, expectedVersion: history.length, events: [event] });
    if (outcome.outcome !== 'appended' || !outcome.events[0]) throw new Error(outcome.outcome);
    return outcome.events[0];
  }

  async ready(root = ROOT): Promise<EventNamed<'node_ready'>['data']> {
    return this.newest('node_ready', root);
  }

  async pass(root = ROOT): Promise<RecordedEvent> {
    const { task, address, run, run_kind } = await this.ready(root);
    return this.say(gateStream(task, run), 'governance_passed', {
      ...{ root, task, address, run, run_kind, outcome: 'proceed', work: 'long', token: 't', workspace_ref: null },
      ...{ verdicts: [], firewall_hash: HASH },
    });
  }

  async start(root = ROOT): Promise<RecordedEvent> {
    const { task, address, run, run_kind, node } = await this.ready(root);
    const data = { root, task, address, run, run_kind, node_id: node.id, owner: 'e1', token_id: 't' };
    return this.say(actionStream(task, run), 'action_started', data);
  }

  async call(root = ROOT): Promise<RecordedEvent> {
    const { task, address, run } = await this.ready(root);
    return this.say(actionStream(task, run), 'tool_called', {
      ...{ root, task, address, run, seq: 1, rung: 'recipe', tool: 'recipe', command: 'make it', outcome: 'ok' },
      ...{ exit_code: 0, signal: null, duration_ms: 1, rule: null, detail: '', stdout: null, stderr: null },
    });
  }

  async cancel(root = ROOT): Promise<void> {
    const command = { type: 'cancel_task', task: root, reason: 'not wanted' } as const;
    const cause = { id: `cancel ${root}`, time: this.clock.now().toISOString(), actor: 'local' };
    const decision = await this.lineages.commandFor({ root, command, cause, nodeReady: null });
    await this.lineages.decide('spec__cancel', [decision]);
  }

  async end(more: Partial<RunResult> = {}, root = ROOT): Promise<RecordedEvent> {
    const { task, address, run, run_kind, node } = await this.ready(root);
    return this.say(actionStream(task, run), 'node_verified_action', {
      ...{ root, task, address, run, run_kind, node_id: node.id, outcome: 'satisfied', fault_class: null },
      ...{ rung: 'recipe', policy: 'required', postcondition_met: true, exit_code: 0, recipe_hash: HASH },
      ...{ repaired_command: null, workspace_ref: null, output: null, output_artifact: null, detail: '' },
      ...{ firewall_broken: null, spent: { duration_ms: 1, ...NOTHING }, merge_conflicts: null, provider_fault: null },
      ...more,
    });
  }

  async judge(root = ROOT): Promise<RecordedEvent> {
    const { task, address, run, node } = await this.ready(root);
    return this.say(gateStream(task, run), 'post_validated', {
      ...{ root, task, address, run, node_id: node.id, outcome: 'proceed', reason: '', halt_type: null },
      ...{ raw_halt_type: null, verdicts: [], triggering_validators: [], signature: HASH, workspace_ref: null },
    });
  }

  hear(...events: readonly RecordedEvent[]) {
    const offers: Offer[] = events.map((event) => ({ event, nodeReady: null }));
    return this.reader.handle(offers, new AbortController().signal);
  }
}
