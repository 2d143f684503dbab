import type { Clock, Ids } from '@fixpoint/contracts/clock';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { definitionOf } from '@fixpoint/contracts/events/catalogue';
import { readEvent } from '@fixpoint/contracts/events/parse-event';
import { type AskingRun, providerFaultClassSchema } from '@fixpoint/contracts/events/provider-events';
import { providerStream } from '@fixpoint/contracts/streams';
import { Refused } from '@fixpoint/decider/refused';
import type { Cause } from '@fixpoint/event-store/decision-plan';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { DecisionContended, type DecisionOutcome, runDecision, runDecisions } from '@fixpoint/event-store/run-decision';
import { stateCache } from '@fixpoint/event-store/state-cache';
import { type Provider, type ProviderCommand, provider } from '../domain/provider/provider.ts';
import { type ProbeReading, probeEnd } from './probe-end.ts';
import { countsOf, type ProviderCounts, type ProviderRow, providerRow } from './provider-row.ts';

const PROVIDERS = 'orchestrator__providers';
/** More than any installation has. */
const KEPT = 1_000;

export interface ProvidersDeps extends ProbeReading {
  readonly store: EventStore;
  /** How providers stand, as far as the log was followed. */
  readonly rows: () => Promise<readonly ProviderRow[]>;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Ids;
  /** From 0 to below 1. */
  readonly jitter: () => number;
  readonly report: (error: unknown, name: string) => void;
}

interface About {
  readonly name: string;
  readonly command: ProviderCommand;
  readonly cause: Pick<Cause, 'id' | 'time' | 'actor'>;
}

/**
 * Which providers are paused, as one process knows it: what the projection shows of all replicas, and what this process
 * decided since.
 */
export class Providers {
  /** Called when a fault was noted or a human spoke: it is worth a look. */
  onNews: () => void = () => undefined;
  private readonly deps: ProvidersDeps;
  private readonly states = stateCache<Provider>(KEPT);
  private readonly known = new Map<string, ProviderRow>();
  private noted: readonly RecordedEvent[] = [];

  constructor(deps: ProvidersDeps) {
    this.deps = deps;
  }

  /**
   * Takes up what was just recorded of runs; it counts from the next look. What is lost with this process was one fault of
   * many: a storm that goes on brings more.
   */
  note(events: readonly RecordedEvent[]): void {
    const faults = events.filter((event) => event.type === 'fault_recorded' && speaksOf(event) !== null);
    if (faults.length === 0) return;
    this.noted = [...this.noted, ...faults];
    this.onNews();
  }

  /** Decides on what was noted, learns what other replicas decided, and ends probes. */
  async look(): Promise<void> {
    const faults = this.noted;
    const outcomes = await this.decide(faults.map((event) => this.reported(event)));
    const open = faults.filter((_, index) => isContended(outcomes[index]));
    this.noted = [...open, ...this.noted.slice(faults.length)];
    for (const row of await this.deps.rows()) this.learn(row);
    await this.endProbes();
  }

  /** Nothing that needs one of them starts by itself. */
  paused(): readonly string[] {
    return this.rowsThat(({ status }) => status !== 'open');
  }

  /** Those that were paused at least once, by how they stand. */
  counts(): ProviderCounts {
    return countsOf([...this.known.values()]);
  }

  /** Of those that are paused: whoever comes first may probe them. */
  due(): ReadonlySet<string> {
    const now = this.now();
    return new Set(
      this.rowsThat(({ status, paused_until: until }) => status === 'paused' && until !== null && until <= now),
    );
  }

  /** @returns whether the run is now the one probe of every paused provider among those that it needs. */
  async claimProbe(probe: AskingRun, needs: readonly string[]): Promise<boolean> {
    const rows = needs.flatMap((name) => this.known.get(name) ?? []).filter(({ status }) => status !== 'open');
    await this.decide(rows.map((row) => this.probed(row, probe)));
    return rows.every((row) => {
      const now = this.known.get(row.provider);
      return now?.status === 'open' || isSame(now?.probe ?? null, probe);
    });
  }

  /**
   * A human wants it asked now.
   * @returns the event, or null when it is not paused or being asked already.
   * @throws {Refused} `provider_unknown`.
   */
  async retry(name: string, said: { readonly reason: string; readonly actor: string }): Promise<RecordedEvent | null> {
    const stream = providerStream(name);
    if ((await this.deps.store.readStream(stream, 1, 1)).length === 0) throw new Refused('provider_unknown', name);
    const now = this.now();
    const command = { type: 'retry_provider', provider: name, reason: said.reason, now } as const;
    const cause = { id: this.deps.ids.uuid(), time: now, actor: said.actor, correlation_id: stream };
    const { events } = await runDecision(this.shell(), { stream, root: stream, command, cause });
    this.learnFrom(events);
    this.onNews();
    return events[0] ?? null;
  }

  private reported(event: RecordedEvent): About {
    const { root, task, run, class: named, detail, retry_after_ms, provider: of } = readEvent(event, 'fault_recorded');
    const name = of ?? '';
    const fault = { class: providerFaultClassSchema.parse(named), detail, retryAfterMs: retry_after_ms };
    const drawn = { jitter: this.deps.jitter(), now: event.occurred_at };
    const command = { type: 'report_fault', provider: name, by: { root, task, run }, ...fault, ...drawn } as const;
    return { name, command, cause: { id: event.id, time: event.occurred_at, actor: 'system' } };
  }

  private probed({ provider: name, event: id, since: time }: ProviderRow, probe: AskingRun): About {
    const command = { type: 'start_probe', provider: name, probe, now: this.now() } as const;
    return { name, command, cause: { id, time, actor: 'system' } };
  }

  private async endProbes(): Promise<void> {
    const ended = await Promise.all([...this.known.values()].map((row) => this.endOf(row)));
    await this.decide(ended.flatMap((each) => each ?? []));
  }

  private async endOf(row: ProviderRow): Promise<About | null> {
    const { provider: name, probe, event: id, since } = row;
    if (row.status !== 'probing' || probe === null) return null;
    const now = this.now();
    const end = await probeEnd(this.deps, { provider: name, probe, since }, now);
    if (end === 'under_way') return null;
    const drawn = { jitter: this.deps.jitter(), now };
    const command = { type: 'end_probe', provider: name, probe, fault: end.fault, ...drawn } as const;
    return { name, command, cause: { id, time: since, actor: 'system' } };
  }

  private async decide(decisions: readonly About[]): Promise<readonly DecisionOutcome[]> {
    if (decisions.length === 0) return [];
    const outcomes = await runDecisions(
      this.shell(),
      decisions.map(({ name, command, cause }) => {
        const stream = providerStream(name);
        return { stream, root: stream, command, cause: { ...cause, correlation_id: stream } };
      }),
    );
    for (const [index, outcome] of outcomes.entries()) this.settle(outcome, decisions[index]?.name ?? '');
    return outcomes;
  }

  private settle(outcome: DecisionOutcome, name: string): void {
    if (outcome.outcome === 'decided') this.learnFrom(outcome.events);
    if (outcome.outcome === 'failed') this.deps.report(outcome.error, name);
  }

  private learnFrom(events: readonly RecordedEvent[]): void {
    for (const event of events) {
      const row = providerRow(event);
      if (row !== null) this.learn(row);
    }
  }

  private learn(row: ProviderRow): void {
    if (row.version >= (this.known.get(row.provider)?.version ?? 0)) this.known.set(row.provider, row);
  }

  private rowsThat(holds: (row: ProviderRow) => boolean): string[] {
    return [...this.known.values()].filter(holds).map((row) => row.provider);
  }

  private shell() {
    const { store, clock } = this.deps;
    return {
      ...{ store, clock, states: this.states, decider: provider, handler: PROVIDERS },
      schemaVersionOf: (type: string) => definitionOf(type)?.version ?? 1,
    };
  }

  private now(): string {
    return this.deps.clock.now().toISOString();
  }
}

/** Others were faster: it is decided again, on what they left. */
const isContended = (outcome: DecisionOutcome | undefined): boolean =>
  outcome?.outcome === 'failed' && outcome.error instanceof DecisionContended;

const speaksOf = (event: RecordedEvent): string | null => readEvent(event, 'fault_recorded').provider;

const isSame = (a: AskingRun | null, b: AskingRun): boolean =>
  a !== null && a.root === b.root && a.task === b.task && a.run === b.run;
