/** What an instrument is: a sum that only grows, a value that is set or asked for, or a distribution. */
export type MetricKind = 'counter' | 'gauge' | 'histogram';

export interface MetricDefinition {
  readonly kind: MetricKind;
  /** As UCUM writes it: `s`, `{task}`. */
  readonly unit: string;
  /** Keys that a measurement may carry. None of them grows with the number of tasks. */
  readonly attributes: readonly string[];
  /** Upper bounds of the buckets of a histogram, in its unit. */
  readonly buckets?: readonly number[];
  readonly about: string;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];
const LONG_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400, 604_800];
const SMALL_COUNTS = [0, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20];

/** Every metric of every process. Names and units follow the conventions of OpenTelemetry; ours begin with `fixpoint`. */
export const METRIC_CATALOGUE = {
  'fixpoint.task.count': {
    kind: 'gauge',
    unit: '{task}',
    attributes: ['fixpoint.task.state'],
    about: 'Tasks by state, as the read model shows them.',
  },
  'fixpoint.lineage.time_to_converge': {
    kind: 'histogram',
    unit: 's',
    attributes: ['fixpoint.lineage.state'],
    buckets: LONG_SECONDS,
    about: 'From the submission of a lineage to its end.',
  },
  'fixpoint.lineage.closure.depth': {
    kind: 'histogram',
    unit: '{level}',
    attributes: ['fixpoint.lineage.state'],
    buckets: SMALL_COUNTS,
    about: 'How deep fixes went below fixes in a lineage that has ended; 0 needed none.',
  },
  'fixpoint.lineage.attempts': {
    kind: 'histogram',
    unit: '{attempt}',
    attributes: ['fixpoint.lineage.state'],
    buckets: SMALL_COUNTS,
    about: 'Fix attempts that a lineage used until its end.',
  },
  'fixpoint.queue.length': {
    kind: 'gauge',
    unit: '{run}',
    attributes: [],
    about: 'Runs that wait for their turn.',
  },
  'fixpoint.queue.age': {
    kind: 'gauge',
    unit: 's',
    attributes: [],
    about: 'How long the oldest queued run has waited; 0 with an empty queue.',
  },
  'fixpoint.run.in_flight': {
    kind: 'gauge',
    unit: '{run}',
    attributes: [],
    about: 'Runs that were started and whose end is not decided yet.',
  },
  'fixpoint.provider.count': {
    kind: 'gauge',
    unit: '{provider}',
    attributes: ['fixpoint.provider.state'],
    about:
      'Git hosts and models that were paused at least once, by state: open, paused, probing, or human when somebody has to say that one may be tried.',
  },
  'fixpoint.event.lag': {
    kind: 'histogram',
    unit: 's',
    attributes: ['fixpoint.reader'],
    buckets: SECONDS,
    about: 'From the moment an event was decided to the moment a reader or projection has dealt with it.',
  },
  'fixpoint.store.watermark.age': {
    kind: 'gauge',
    unit: 's',
    attributes: [],
    about: 'Age of the oldest committed event that no reader may see yet, because an older transaction is still open.',
  },
  'fixpoint.bus.consumer.backlog': {
    kind: 'gauge',
    unit: '{message}',
    attributes: ['fixpoint.reader'],
    about: 'Messages that wait for a reader or were delivered to it and not acknowledged.',
  },
  'fixpoint.bus.publish.lost': {
    kind: 'counter',
    unit: '{event}',
    attributes: [],
    about: 'Stored events that could not be published; they are offered again.',
  },
  'fixpoint.dead_letter.recorded': {
    kind: 'counter',
    unit: '{letter}',
    attributes: ['fixpoint.reader'],
    about: 'Offers that a reader gave up.',
  },
  'fixpoint.dead_letter.open': {
    kind: 'gauge',
    unit: '{letter}',
    attributes: ['fixpoint.service'],
    about: 'Dead letters that were neither replayed nor discarded.',
  },
  'fixpoint.projection.rows.differing': {
    kind: 'gauge',
    unit: '{row}',
    attributes: ['fixpoint.reader'],
    about: 'Rows of a projection that did not say what the log says when they were last compared.',
  },
  'fixpoint.command.duration': {
    kind: 'histogram',
    unit: 's',
    attributes: ['fixpoint.command.status'],
    buckets: LONG_SECONDS,
    about: 'Commands of recipes, checks, repairs and validators.',
  },
  'messaging.process.duration': {
    kind: 'histogram',
    unit: 's',
    attributes: ['messaging.system', 'messaging.operation.name', 'messaging.consumer.group.name'],
    buckets: SECONDS,
    about: 'How long a reader took for what it was handed at once.',
  },
  'db.client.operation.duration': {
    kind: 'histogram',
    unit: 's',
    attributes: ['db.system.name', 'db.operation.name'],
    buckets: SECONDS,
    about: 'Appends, with the wait for their group commit.',
  },
  'http.server.request.duration': {
    kind: 'histogram',
    unit: 's',
    attributes: ['http.request.method', 'http.route', 'http.response.status_code', 'url.scheme'],
    buckets: SECONDS,
    about: 'Requests of both APIs.',
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>;

type Catalogue = typeof METRIC_CATALOGUE;
type NamesOf<Kind extends MetricKind> = {
  [Name in keyof Catalogue]: Catalogue[Name]['kind'] extends Kind ? Name : never;
}[keyof Catalogue];

export type MetricName = keyof Catalogue;
export type CounterName = NamesOf<'counter'>;
export type GaugeName = NamesOf<'gauge'>;
export type HistogramName = NamesOf<'histogram'>;

/** The attributes that the catalogue names for a metric; each may be left out. */
export type AttributesOf<Name extends MetricName> = Readonly<
  Partial<Record<Catalogue[Name]['attributes'][number], string | number>>
>;
