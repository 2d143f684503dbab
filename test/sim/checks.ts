import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { EventNamed, LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { councilStream, gateStream, lineageStream } from '@fixpoint/contracts/streams';
import { fold } from '@fixpoint/decider/decider';
import type { Publication } from '@fixpoint/messaging/bus';
import { accountOf } from '@fixpoint/orchestrator/domain/lineage/budget/evolve-budget';
import { lineage } from '@fixpoint/orchestrator/domain/lineage/decide';
import { isBusy, waitsForTimer } from '@fixpoint/orchestrator/domain/lineage/lookup';
import type { Admitted, Lineage } from '@fixpoint/orchestrator/domain/lineage/state';
import { isLive } from '@fixpoint/orchestrator/domain/lineage/tree';
import { type LineageWaits, NO_WAITS } from '@fixpoint/orchestrator/waits/wait-rows';
import { waitsAfter } from '@fixpoint/orchestrator/waits/waits-after';
import { brokenIn } from '../world/invariants.ts';
import { tablesOf } from '../world/projections.ts';
import { playUntil } from './rest.ts';
import { brokenRules } from './rules/broken-rules.ts';
import { INDIGESTIBLE } from './shaky-reader.ts';
import type { SimWorld } from './sim-world.ts';

type Events = readonly RecordedEvent[];

/** Everything that is broken in a world at its end, each with the name of its rule. */
export const checkAll = async (world: SimWorld): Promise<readonly string[]> => {
  const events = [...world.log];
  const found = [
    ...brokenIn(events),
    ...brokenRules(events),
    ...endings(events),
    ...rebuilt(world, events),
    ...reported(world),
  ];
  return [...found, ...(await repeated(world))];
};

const named = (name: string, problems: readonly string[]): readonly string[] =>
  problems.map((what) => `${name}: ${what}`);

const statesOf = (events: Events): ReadonlyMap<string, Admitted> => {
  const roots = [...new Set(events.filter(({ type }) => type === 'task_submitted').map(({ root }) => root))];
  const streams = Map.groupBy(events, ({ stream }) => stream);
  return new Map(
    roots.flatMap((root) => {
      const own = (streams.get(lineageStream(root)) ?? []) as unknown as readonly LineageEvent[];
      const state = fold(lineage, lineage.initial, own);
      return state.status === 'admitted' ? [[root, state]] : [];
    }),
  );
};

const hasEnded = ({ tasks, root }: Admitted): boolean => !isLive(tasks[root] ?? { status: 'ended' });

/** With all the time of the world and nobody at fault, a lineage has ended or a human is asked, and nothing else goes on. */
const endings = (events: Events): readonly string[] =>
  named(
    'every lineage has ended or waits for a human',
    [...statesOf(events)].flatMap(([root, state]) => {
      if (hasEnded(state)) return isBusy(state) || waitsForTimer(state) ? [`${root} goes on after its end`] : [];
      const isWithHuman = Object.values(state.units).some(({ handoff }) => handoff !== null);
      // After its deadline an answer may wait for more time as well.
      return isWithHuman && (!isBusy(state) || state.deadlinePassed) ? [] : [`${root} waits for nobody`];
    }),
  );

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** What is kept of the log is what the log comes to when it is read from its start. */
const rebuilt = (world: SimWorld, events: Events): readonly string[] => {
  const pages = [...Map.groupBy(events, ({ cursor }) => cursor.xid).values()];
  const tables = (...of: readonly Events[]) =>
    JSON.stringify(Object.entries(tablesOf(...of)).map(([name, rows]) => [name, [...rows].sort()]));
  const now = world.clock.now().toISOString();
  const waits = new Map<string, LineageWaits>();
  for (const event of events) waits.set(event.root, waitsAfter(waits.get(event.root) ?? NO_WAITS, event));
  return [
    ...named('the read model is the same event by event, at once, and told twice', [
      ...(tables(...pages) === tables(events) ? [] : ['by commit and at once']),
      ...(tables(events, events) === tables(events) ? [] : ['once and twice']),
    ]),
    ...named(
      'what is waited for is the same live and rebuilt',
      world.staff
        .orchestrators()
        .flatMap(({ waits: live, process }) =>
          [...waits]
            .filter(([root, rows]) => !same(outline(rows, now), outline(live.all().get(root) ?? NO_WAITS, now)))
            .map(
              ([root, rows]) =>
                `${root} in ${process.name}: ${JSON.stringify([outline(live.all().get(root) ?? NO_WAITS, now), outline(rows, now)])}`,
            ),
        ),
    ),
    ...named(
      'a state is the same from a snapshot',
      [...statesOf(events)].flatMap(([root, state]) => fromSnapshot(events, root, state)),
    ),
  ];
};

/** What of the rows follows from the log alone: when to look again is the healer's, and a timer that rang is gone. */
const outline = ({ waiting, timers }: LineageWaits, now: string) => [
  Object.values(waiting)
    .map(({ task, kind, run, stream, version, started, since }) =>
      [task, kind, run, stream, version, started, since].join(' '),
    )
    .sort(),
  Object.values(timers)
    .filter(({ due_at: at }) => at > now)
    .map(({ id }) => id)
    .sort(),
];

const fromSnapshot = (events: Events, root: string, state: Admitted): readonly string[] => {
  const own = events.filter(({ stream }) => stream === lineageStream(root)) as unknown as readonly LineageEvent[];
  const middle = Math.floor(own.length / 2);
  const kept: Lineage = JSON.parse(JSON.stringify(fold(lineage, lineage.initial, own.slice(0, middle))));
  return same(fold(lineage, kept, own.slice(middle)), state) ? [] : [root];
};

/** A program that is wrong, or a second decision for one cause; the world never does that. */
const BUGS =
  /TypeError|RangeError|ReferenceError|SyntaxError|ZodError|AppendRejected|duplicate_event_id|a process did not start/;

const lettersIn = (events: Events): readonly Letter[] =>
  events
    .filter(({ type }) => type === 'dead_lettered')
    .map(({ data }) => data as Letter)
    .filter(({ reason }) => reason !== INDIGESTIBLE);

type Letter = EventNamed<'dead_lettered'>['data'];

const reported = ({ reports, log }: SimWorld): readonly string[] => [
  ...named(
    'nobody stumbles over a bug',
    reports.filter((report) => BUGS.test(report)),
  ),
  ...named(
    'no message is given up but those that nobody could read',
    lettersIn(log).map((letter) => JSON.stringify(letter)),
  ),
];

/** What is stored when messages come again. */
const storedAfter = async (world: SimWorld, publications: readonly Publication[]): Promise<Events> => {
  const before = world.log.length;
  await world.bus.publish(publications);
  await playUntil(world, Number.POSITIVE_INFINITY, async () => undefined);
  return world.log.slice(before);
};

const toldOf = (events: Events): readonly string[] => events.map(({ type, stream }) => `${type} on ${stream}`);

/** Whether a gate or a judge says something for the first time about a run that was given up for want of that word. */
const isLateWord = (events: Events): ((event: RecordedEvent) => boolean) => {
  const said = new Set(events.map(({ stream, type }) => `${type} ${stream}`));
  const givenUp = new Set(events.flatMap(givenUpIn));
  return ({ stream, type }) => givenUp.has(stream) && !said.has(`${type} ${stream}`);
};

/** The stream on which a validator would have answered, of a run that an event gives up. */
const givenUpIn = ({ type, data }: RecordedEvent): readonly string[] => {
  const { task, run, class: name } = data as { task: string; run: number; class?: string };
  const isGivenUp = type === 'run_revoked' || (type === 'fault_recorded' && name === 'no_answer');
  return isGivenUp ? [gateStream(task, run)] : [];
};

type Accounted = EventNamed<'run_accounted'>['data'];

/** Whether a council is asked for the first time what nobody asks any more. */
const isLateCouncil = (events: Events): ((event: RecordedEvent) => boolean) => {
  const said = new Set(events.map(({ stream }) => stream));
  const units = [...statesOf(events).values()].flatMap(({ units: own }) => Object.entries(own));
  const open = new Set(units.flatMap(([id, { request }]) => (request.open ? [councilStream(id, request.number)] : [])));
  return ({ stream }) => stream.startsWith('council-') && !said.has(stream) && !open.has(stream);
};

/** Somebody is told of a dead letter of which the message was lost. */
const isLetter = ({ type, data }: RecordedEvent): boolean =>
  (type === 'human_required' || type === 'handoff_updated') && (data as { letter?: unknown }).letter !== undefined;

/** What was reserved for runs and questions of which nobody has said yet what they spent. */
const reservedIn = (events: Events): ReadonlySet<string> =>
  new Set(
    [...statesOf(events)].flatMap(([root, { budget }]) =>
      Object.keys(budget.reserved).map((name) => `${root} ${name}`),
    ),
  );

const accountedIn = ({ type, root, data }: RecordedEvent): string =>
  type === 'run_accounted' ? `${root} ${accountOf(data as Accounted)}` : '';

/**
 * Every message that there ever was comes once more, those that were lost too; then all come again from the last to the
 * first. A validator that hears a question for the first time when its run was given up answers it: on a stream that nobody
 * waits for, with a token that nothing can be started with. What a run had spent that was given up is accounted for whenever
 * anybody says so, and so does a council that hears late of a question; a dead letter of which nobody had heard is told.
 * Nothing else is decided.
 */
const repeated = async (world: SimWorld): Promise<readonly string[]> => {
  // What was offered again and again is one message.
  const all = [...new Map(world.bus.published.map((each) => [each.offer.event.id, each])).values()];
  const isForNobody = [isLateWord(world.log), isLateCouncil(world.log), isLetter];
  const reserved = reservedIn(world.log);
  const late = (await storedAfter(world, all)).filter(
    (event) => !isForNobody.some((is) => is(event)) && !reserved.has(accountedIn(event)),
  );
  const again = await storedAfter(world, all.toReversed());
  return [
    ...named('messages that come when all is over decide nothing', toldOf(late)),
    ...named('replaying all messages twice changes nothing', toldOf(again)),
  ];
};
