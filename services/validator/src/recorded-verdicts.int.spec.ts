import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@fixpoint/testing/eventually';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { validatorOf, validatorWorld } from './validator.fixture.ts';

// Real processes on a busy machine.
jest.setTimeout(60_000);

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'validator-kept-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type World = Awaited<ReturnType<typeof validatorWorld>>;

/** The first answers at once, the second when it may. */
const validators = () => [
  validatorOf('first', { command: 'echo bad; exit 1' }),
  validatorOf('second', { command: `until test -e ${folder}/go; do sleep 0.05; done` }),
];

/** A replica whose commands are seen. */
const watched = (world: World, owner: string) => {
  const deps = world.deps(owner);
  const runs: string[] = [];
  const run: typeof deps.runner.run = (program) => {
    runs.push(JSON.stringify(program.program));
    return deps.runner.run(program);
  };
  return { deps: { ...deps, runner: { run } }, runs };
};

const ask = {
  gate: (world: World, replica: ReturnType<typeof watched>, offer: Offer, signal?: AbortSignal) =>
    world.askGate(offer, replica.deps, signal),
  judge: (world: World, replica: ReturnType<typeof watched>, offer: Offer, signal?: AbortSignal) =>
    world.askJudge(offer, replica.deps, signal),
};
type Offer = Parameters<World['askGate']>[0];

describe('a question that a process lost after some validators had answered', () => {
  test.each(['gate', 'judge'] as const)(
    'keeps their verdicts; the next owner asks the others only: %s',
    async (phase) => {
      const world = await validatorWorld({ mode: phase === 'gate' ? { pre: validators() } : { post: validators() } });
      try {
        const offer = phase === 'gate' ? await world.ready() : await world.ended();
        const stop = new AbortController();
        const lost = ask[phase](world, watched(world, 'validator-a'), offer, stop.signal);
        const [kept] = await eventually('the first verdict is kept', async () => {
          const events = await world.store.readStream('verdicts-r-1');
          return events.length === 1 && events;
        });
        expect(kept).toMatchObject({ type: 'verdict_recorded', data: { phase, verdict: { validator: 'first' } } });
        stop.abort();
        expect(await lost).toMatchObject({ verdict: 'later' });

        writeFileSync(join(folder, 'go'), '');
        const next = watched(world, 'validator-b');
        expect(await ask[phase](world, next, offer)).toEqual({ verdict: 'done' });
        expect(next.runs).toEqual([expect.stringContaining('until test')]);
        const answer = (await world.answers()).at(-1)?.data as { verdicts: readonly { validator: string }[] };
        const asked = answer.verdicts.map(({ validator }) => validator);
        expect(asked).toEqual(phase === 'gate' ? ['first', 'second'] : ['postcondition', 'first', 'second']);
        expect(answer.verdicts).toContainEqual(Reflect.get(Object(kept?.data), 'verdict'));
      } finally {
        world.close();
      }
    },
  );
});

describe('a question that nobody loses', () => {
  test('keeps nothing where no other command follows', async () => {
    const post = [validatorOf('only', { command: 'true' }), validatorOf('scan', { secret_scan: {} })];
    const world = await validatorWorld({ mode: { post } });
    try {
      await world.askJudge(await world.ended());
      expect(await world.store.readStream('verdicts-r-1')).toEqual([]);
    } finally {
      world.close();
    }
  });
});
