import { SPREAD_TYPES } from '@fixpoint/contracts/services';
import { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import { PostgresEventStore } from '@fixpoint/event-store/postgres-event-store';
import { EMBEDDED_ROLE } from '@fixpoint/event-store/roles';
import { type TestDatabase, testDatabase } from '@fixpoint/testing/test-database';
import { type TestNats, testNats } from '@fixpoint/testing/test-nats';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { doubledBus } from './doubled-bus.ts';
import { driveToRest } from './drive.ts';
import type { Scenario } from './scenario.ts';
import { scenarioNamed, scenarios } from './scenarios.ts';
import { streamsOf } from './story.ts';
import { type Carrier, startWorld } from './world.ts';

jest.setTimeout(120_000);

// The broker takes back what a killed process had in hand after a time of its own, not of the world's clock.
const carried = scenarios.filter(({ name }) => name !== 'executor-is-lost');

const streams = async (which: readonly Scenario[], carrier?: Carrier) => {
  const world = await startWorld({ ...(carrier && { carrier }) });
  await world.submit(which);
  await driveToRest(world);
  return streamsOf(await world.events());
};

let nats: TestNats;

const overJetStream = async (copies: number, store: Carrier['store']): Promise<Carrier> => {
  const inner = await nats.bus({
    spread: ({ event }) => SPREAD_TYPES.includes(event.type as never),
    load: async ({ stream, version }) => {
      const [event] = await store.readStream(stream, version);
      if (event === undefined) throw new Error(`there is no ${stream}@${version}`);
      return event;
    },
  });
  const bus = doubledBus(inner, copies);
  return { store, bus, underway: bus.underway, onAnswered: bus.onAnswered };
};

describe('every message published twice on JetStream', () => {
  beforeAll(() => {
    nats = testNats();
  });
  afterAll(() => nats.close());

  test.each(carried.map((each) => [each.name, each] as const))(
    'A11 gives the same streams: %s',
    async (_name, each) => {
      const twice = await overJetStream(2, new MemoryEventStore());
      expect(await streams([each], twice)).toEqual(await streams([each]));
      await twice.bus.close();
    },
  );
});

describe('every message published twice on JetStream, stored in Postgres', () => {
  let database: TestDatabase;
  let store: PostgresEventStore;

  beforeAll(async () => {
    nats = testNats();
    database = await testDatabase();
    store = new PostgresEventStore({ url: database.url, role: EMBEDDED_ROLE, applicationName: 'world' });
  });
  afterAll(async () => {
    await nats.close();
    await store.close();
    await database.close();
  });

  test('A13 gives the same streams with many lineages at once', async () => {
    const names = ['counts-in-process', 'unmet-then-met', 'one-fix', 'too-deep', 'hard-blocker', 'network-comes-back'];
    const which = names.map(scenarioNamed);
    const twice = await overJetStream(2, store);
    expect(await streams(which, twice)).toEqual(await streams(which));
  });
});
