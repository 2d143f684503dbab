import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import type { AskingRun, ProviderFaultClass } from '@fixpoint/contracts/events/provider-events';
import type { Decider } from '@fixpoint/decider/decider';
import { bounded } from '../lineage/bounded.ts';
import { isRelapse, isStorm, pausedUntil, recent, type SeenFault } from './pauses.ts';

interface Fault {
  readonly class: ProviderFaultClass;
  readonly detail: string;
  /** What the provider asked for; 0: nothing. */
  readonly retryAfterMs: number;
}

interface Asked {
  readonly provider: string;
  /** ISO 8601, UTC. */
  readonly now: string;
}

interface Drawn {
  /** From 0 to below 1. */
  readonly jitter: number;
}

/** A run met a fault that speaks of the provider. */
export type ReportFault = Asked & Drawn & Fault & { readonly type: 'report_fault'; readonly by: AskingRun };

/** The run's turn has come, should the provider be due for a probe. */
export type StartProbe = Asked & { readonly type: 'start_probe'; readonly probe: AskingRun };

/** The probe is over; `fault` null: it met none of this provider. */
export type EndProbe = Asked &
  Drawn & {
    readonly type: 'end_probe';
    readonly probe: AskingRun;
    readonly fault: (Omit<Fault, 'class'> & { readonly class: ProviderFaultClass | null }) | null;
  };

/** A human says that it is worth a try. */
export type RetryProvider = Asked & { readonly type: 'retry_provider'; readonly reason: string };

export type ProviderCommand = ReportFault | StartProbe | EndProbe | RetryProvider;

interface Pause {
  readonly class: ProviderFaultClass;
  readonly count: number;
  readonly since: string;
  /** Null: when a human says so. */
  readonly until: string | null;
}

export type Provider =
  | {
      readonly status: 'open';
      readonly faults: readonly SeenFault[];
      /** The pauses that it comes from; null when it was never paused. */
      readonly before: { readonly count: number; readonly resumedAt: string } | null;
    }
  | { readonly status: 'paused'; readonly pause: Pause }
  | { readonly status: 'probing'; readonly pause: Pause; readonly probe: AskingRun };

export type ProviderEvent = EventNamed<
  'provider_faulted' | 'provider_paused' | 'provider_probed' | 'provider_resumed' | 'provider_retry_asked'
>;

type Facts = readonly ProviderEvent[];
type Of<Status extends Provider['status']> = Extract<Provider, { status: Status }>;

const DETAIL_BYTES = 1024;
/** More than a minute of a storm needs. */
const MOST_FAULTS = 100;

const isSame = (a: AskingRun, b: AskingRun): boolean => a.root === b.root && a.task === b.task && a.run === b.run;

const evolve = (state: Provider, event: ProviderEvent): Provider => {
  switch (event.type) {
    case 'provider_faulted':
      return faulted(state, event.data);
    case 'provider_paused': {
      const { class: name, count, since, until } = event.data;
      return { status: 'paused', pause: { class: name, count, since, until } };
    }
    case 'provider_probed':
      return state.status === 'open' ? state : { status: 'probing', pause: state.pause, probe: event.data.probe };
    case 'provider_resumed':
      return {
        status: 'open',
        faults: [],
        before: { count: event.data.count, resumedAt: event.data.resumed_at },
      };
    case 'provider_retry_asked':
      if (state.status === 'open') return state;
      return { status: 'paused', pause: { ...state.pause, count: 0, until: event.data.asked_at } };
    default:
      return state;
  }
};

const faulted = (state: Provider, data: EventNamed<'provider_faulted'>['data']): Provider => {
  if (state.status !== 'open') return state;
  const { class: name, seen_by: by, faulted_at: at } = data;
  const faults = [...recent(state.faults, at), { class: name, by, at }].slice(-MOST_FAULTS);
  return { ...state, faults };
};

type Reason = EventNamed<'provider_paused'>['data']['reason'];

interface Paused extends Asked {
  readonly fault: Pick<Fault, 'class' | 'detail'>;
  readonly reason: Reason;
  readonly count: number;
  readonly since: string;
  readonly until: string | null;
}

const paused = ({ provider, now, fault, reason, count, since, until }: Paused): ProviderEvent => ({
  type: 'provider_paused',
  data: { provider, class: fault.class, reason, count, until, since, detail: cut(fault.detail), paused_at: now },
});

const cut = (detail: string): string => bounded(detail, DETAIL_BYTES, 'the whole is in the fault of the run');

const reportFault = (command: ReportFault, state: Provider): Facts => {
  switch (state.status) {
    case 'open':
      return faultOfOpen(command, state);
    case 'paused':
      return faultOfPaused(command, state);
    case 'probing':
      return faultWhileProbing(command, state);
    default:
      return state satisfies never;
  }
};

const faultOfOpen = (command: ReportFault, state: Of<'open'>): Facts => {
  const { provider, class: name, by, detail, now } = command;
  if (state.faults.some((known) => isSame(known.by, by))) return [];
  const seen: ProviderEvent = {
    type: 'provider_faulted',
    data: { provider, class: name, seen_by: by, detail: cut(detail), faulted_at: now },
  };
  const before = relapsedFrom(state, now);
  const reason = reasonToPause(command, state);
  if (reason === null) return [seen];
  const count = (before?.count ?? 0) + 1;
  return [seen, paused({ ...command, fault: command, reason, count, since: now, until: untilAfter(command, count) })];
};

const relapsedFrom = ({ before }: Of<'open'>, now: string): Of<'open'>['before'] =>
  before !== null && isRelapse(before.resumedAt, now) ? before : null;

const reasonToPause = ({ class: name, by, now: at }: ReportFault, state: Of<'open'>): Reason | null => {
  if (name === 'provider_auth') return 'refused_key';
  if (relapsedFrom(state, at) !== null) return 'relapse';
  const newest = { class: name, by, at };
  return isStorm([...state.faults, newest], newest) ? 'storm' : null;
};

/** A key that was refused does not become good by waiting. */
const untilAfter = (fault: Drawn & Omit<Fault, 'detail'> & Pick<Asked, 'now'>, count: number): string | null =>
  fault.class === 'provider_auth' ? null : pausedUntil({ ...fault, count });

/** What was under way when it was paused says nothing new, unless it names a later time or refuses our key. */
const faultOfPaused = (command: ReportFault, { pause }: Of<'paused'>): Facts => {
  if (pause.until === null) return [];
  const longer = { ...command, fault: command, since: pause.since, count: Math.max(1, pause.count) };
  if (command.class === 'provider_auth') return [paused({ ...longer, reason: 'refused_key', until: null })];
  if (command.retryAfterMs === 0) return [];
  const until = pausedUntil(longer);
  return until === null || until <= pause.until ? [] : [paused({ ...longer, reason: 'retry_after', until })];
};

const faultWhileProbing = (command: ReportFault, state: Of<'probing'>): Facts =>
  isSame(command.by, state.probe) ? probeFailed({ ...command, fault: command }, state) : [];

const startProbe = ({ provider, probe, now }: StartProbe, state: Provider): Facts => {
  if (state.status !== 'paused' || state.pause.until === null || now < state.pause.until) return [];
  return [{ type: 'provider_probed', data: { provider, probe, probed_at: now } }];
};

const endProbe = (command: EndProbe, state: Provider): Facts => {
  if (state.status !== 'probing' || !isSame(command.probe, state.probe)) return [];
  const { provider, probe, now, fault } = command;
  if (fault !== null) return probeFailed({ ...command, fault }, state);
  const { count, since } = state.pause;
  return [{ type: 'provider_resumed', data: { provider, probe, count, since, resumed_at: now } }];
};

type Failed = Asked & Drawn & { readonly fault: NonNullable<EndProbe['fault']> };

const probeFailed = ({ fault, ...command }: Failed, { pause }: Of<'probing'>): Facts => {
  const count = pause.count + 1;
  const met = { ...fault, class: fault.class ?? pause.class };
  const reason = fault.class === 'provider_auth' ? 'refused_key' : 'probe_failed';
  return [
    paused({
      ...command,
      fault: met,
      reason,
      count,
      since: pause.since,
      until: untilAfter({ ...command, ...met }, count),
    }),
  ];
};

/** Counted anew, so that it is once more given up only after as many pauses. A probe that is under way goes on. */
const retryProvider = ({ provider, reason, now }: RetryProvider, state: Provider): Facts => {
  if (state.status !== 'paused') return [];
  return [{ type: 'provider_retry_asked', data: { provider, reason, asked_at: now } }];
};

const decide = (command: ProviderCommand, state: Provider): Facts => {
  switch (command.type) {
    case 'report_fault':
      return reportFault(command, state);
    case 'start_probe':
      return startProbe(command, state);
    case 'end_probe':
      return endProbe(command, state);
    case 'retry_provider':
      return retryProvider(command, state);
    default:
      return command satisfies never;
  }
};

/** Stream `provider-{name}`: whether a model or host outside may be asked just now, for all lineages together. */
export const provider: Decider<ProviderCommand, ProviderEvent, Provider> = {
  initial: { status: 'open', faults: [], before: null },
  decide,
  evolve,
};
