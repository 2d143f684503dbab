import type { ModeSpec } from '@fixpoint/contracts/documents/protocol';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { simulatedClock } from '@fixpoint/testing/simulated-clock';
import { describe, expect, test } from '@jest/globals';
import { decideReader } from './decide-reader.ts';
import { mode } from './domain/lineage/lineage.fixture.ts';
import { lineagesOf } from './lineages.ts';
import { World } from './orchestrator.fixture.ts';
import type { LineageAnswer } from './reactions/react.ts';
import { runResults } from './run-results.ts';

/** For each of three. */
const ROUNDS = 334;
/** They take a second on an idle machine. */
const LONG_MS = 60_000;

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** A replica that sees and changes the store so many turns of the event loop late. */
const replica = (world: World, modeSpec: ModeSpec, late: { turns: number }) => {
  const store: EventStore = Object.assign(Object.create(world.store), {
    readStreams: async (streams: readonly string[]) => {
      const read = await world.store.readStreams(streams);
      await turns(late.turns);
      return read;
    },
    appendAll: async (appends: Parameters<EventStore['appendAll']>[0]) => {
      await turns(late.turns);
      return world.store.appendAll(appends);
    },
  });
  const catalog = { modeOf: () => Promise.resolve(modeSpec) };
  const lineages = lineagesOf({ store, catalog, clock: simulatedClock() });
  const reader = decideReader({
    ...{ store, lineages, results: runResults(world.store), publisher: world.publisher },
    report: () => undefined,
    deadLetter: () => Promise.resolve(),
  });
  return {
    hears: (event: RecordedEvent) => reader.handle([{ event, nodeReady: null }], new AbortController().signal),
    /** A timer or a healer that gives up. */
    says: async (root: string, id: string, command: LineageAnswer): Promise<void> => {
      const cause = { id, time: '2026-01-01T00:00:00.000Z', actor: 'system' };
      const decision = await lineages.commandFor({ root, command, cause, nodeReady: null });
      await lineages.decide('spec', [decision]);
    },
  };
};

type Other = (second: ReturnType<typeof replica>, root: string, judged: RecordedEvent) => Promise<unknown>;

const others: readonly (readonly [string, Other, readonly (readonly string[])[]])[] = [
  [
    'the deadline passes',
    (second, root) => second.says(root, `${root}:deadline`, { type: 'timer_due', timer: { kind: 'deadline' } }),
    [
      ['node_completed', 'task_completed'],
      ['deadline_passed', 'node_completed', 'task_completed'],
    ],
  ],
  [
    'its run is given up for want of an answer',
    (second, root) =>
      second.says(root, `${root}:silent`, {
        ...{ type: 'fault_run', task: root, run: 1, phase: 'judge', class: 'no_answer', retryAfterMs: 0, detail: '' },
        ...{ result: null, effects: 'possible' },
      }),
    [['node_completed', 'task_completed'], ['fault_recorded']],
  ],
  [
    'another replica hears of it, too',
    (second, _root, judged) => second.hears(judged),
    [['node_completed', 'task_completed']],
  ],
];

describe('a good judgement that arrives in the very moment in which', () => {
  test.each(others)(
    `A14 %s makes one transition, ${ROUNDS} times`,
    async (_name, other, allowed) => {
      const modeSpec = mode();
      const world = new World(modeSpec);
      const [lateFirst, lateSecond] = [{ turns: 0 }, { turns: 0 }];
      const [first, second] = [replica(world, modeSpec, lateFirst), replica(world, modeSpec, lateSecond)];
      const seen = new Set<string>();
      for (let round = 0; round < ROUNDS; round += 1) {
        const root = `r${round}`;
        await world.submit(root);
        await world.end({}, root);
        const judged = await world.judge(root);
        [lateFirst.turns, lateSecond.turns] = [round % 3, Math.floor(round / 3) % 3];
        await Promise.all([first.hears(judged), other(second, root, judged)]);
        seen.add((await world.types(root)).slice(2).join());
      }
      expect([...seen].sort()).toEqual(allowed.map((types) => types.join()).sort());
    },
    LONG_MS,
  );
});
