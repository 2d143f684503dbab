import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { deadLetterOfStream, gateStream } from '@fixpoint/contracts/streams';
import { deadLetterOf } from '@fixpoint/runtime/dead-letters';
import { describe, expect, test } from '@jest/globals';
import { ROOT } from '../domain/lineage/lineage.fixture.ts';
import { World } from '../orchestrator.fixture.ts';
import { discardDeadLetter, replayDeadLetter } from './dead-letters.ts';

const READER = 'validator__gate';

/** An orchestrator that people ask about dead letters. */
class Desk extends World {
  private uuids = 0;
  private readonly desk = {
    ...{ store: this.store, lineages: this.lineages, publisher: this.publisher, clock: this.clock },
    ids: { uuid: () => `uuid-${++this.uuids}` },
  };
  private readonly giveUp = deadLetterOf(this.desk, 'validator', READER);

  /** The gate gives an event up, and the lineage hears of it. */
  async park(event: RecordedEvent, deliveries = 5, word: 'heard' | 'unheard' = 'heard'): Promise<string> {
    this.published.length = 0;
    await this.giveUp({ event, nodeReady: null }, deliveries, 'no idea');
    const [told] = this.published.splice(0);
    if (!told) throw new Error('nothing was told');
    if (word === 'heard') await this.hear(told.offer.event);
    return deadLetterOfStream(told.offer.event.stream) ?? '';
  }

  replay(letter: string, actor = 'ann', again = false) {
    return replayDeadLetter(this.desk, { letter, again, actor });
  }

  discard(letter: string, actor = 'ann') {
    return discardDeadLetter(this.desk, { letter, reason: 'not needed', actor });
  }

  async readyEvent(): Promise<RecordedEvent> {
    const event = (await this.store.readStream(`lineage-${ROOT}`)).findLast(({ type }) => type === 'node_ready');
    if (!event) throw new Error('no node_ready');
    return event;
  }

  steps(letter: string): Promise<readonly RecordedEvent[]> {
    return this.store.readStream(`dead-${letter}`);
  }
}

const parked = async (): Promise<{ desk: Desk; letter: string }> => {
  const desk = new Desk();
  await desk.submit();
  return { desk, letter: await desk.park(await desk.readyEvent()) };
};

describe('replaying a dead letter', () => {
  test('offers the stored event to its reader alone, goes on counting, and withdraws the handoff', async () => {
    const { desk, letter } = await parked();
    expect(await desk.types()).toEqual(['task_submitted', 'node_ready', 'human_required']);
    const handled = await desk.replay(letter);
    expect(handled).toMatchObject({ letter, status: 'replayed', deliveries: 5, replays: 1, changed: true });
    expect(desk.published).toEqual([
      {
        offer: { event: await desk.readyEvent(), nodeReady: null },
        ...{ workClass: 'normal', reoffer: expect.any(String), only: { reader: READER, failures: 5 } },
      },
    ]);
    expect(await desk.types()).toEqual(['task_submitted', 'node_ready', 'human_required', 'handoff_withdrawn']);
    expect((await desk.newest('handoff_withdrawn')).reason).toBe('dead_letter_replayed');
  });

  test('is recorded with who asked for it', async () => {
    const { desk, letter } = await parked();
    await desk.replay(letter, 'ann');
    expect((await desk.steps(letter)).map(({ type, metadata }) => [type, metadata.actor])).toEqual([
      ['dead_lettered', 'local'],
      ['dead_letter_replayed', 'ann'],
    ]);
  });

  test('F5: parked twice and replayed by two people at once, it is offered once', async () => {
    const { desk, letter } = await parked();
    await desk.park(await desk.readyEvent());
    const both = await Promise.all([desk.replay(letter, 'ann'), desk.replay(letter, 'bob')]);
    expect(both.map(({ changed }) => changed).sort()).toEqual([false, true]);
    expect(desk.published).toHaveLength(1);
    expect((await desk.steps(letter)).map(({ type }) => type)).toEqual(['dead_lettered', 'dead_letter_replayed']);
  });

  test('is done again only where that is asked for: an offer may have been lost', async () => {
    const { desk, letter } = await parked();
    await desk.replay(letter);
    expect(await desk.replay(letter, 'bob')).toMatchObject({ changed: false, replays: 1 });
    expect(await desk.replay(letter, 'bob', true)).toMatchObject({ changed: true, replays: 2 });
    expect(desk.published).toHaveLength(2);
  });

  test('F6: of an event that is still bad brings one letter back, with all its deliveries, and calls a human again', async () => {
    const { desk, letter } = await parked();
    await desk.replay(letter);
    expect(await desk.park(await desk.readyEvent(), 6)).toBe(letter);
    expect(await desk.park(await desk.readyEvent(), 6)).toBe(letter);
    const steps = await desk.steps(letter);
    expect(steps.map(({ type }) => type)).toEqual(['dead_lettered', 'dead_letter_replayed', 'dead_lettered']);
    expect(steps.at(-1)?.data).toMatchObject({ deliveries: 6 });
    expect((await desk.types()).slice(2)).toEqual(['human_required', 'handoff_withdrawn', 'human_required']);
    expect(await desk.replay(letter)).toMatchObject({ changed: true, replays: 2, deliveries: 6 });
  });

  test('a late word about the letter calls nobody after that', async () => {
    const { desk, letter } = await parked();
    await desk.replay(letter);
    const [first] = await desk.steps(letter);
    if (!first) throw new Error('no letter');
    expect(await desk.hear(first)).toEqual([{ verdict: 'done' }]);
    expect((await desk.types()).slice(2)).toEqual(['human_required', 'handoff_withdrawn']);
  });

  test('nor does the first word, when it comes after that', async () => {
    const desk = new Desk();
    await desk.submit();
    const letter = await desk.park(await desk.readyEvent(), 5, 'unheard');
    await desk.replay(letter);
    const [first] = await desk.steps(letter);
    if (!first) throw new Error('no letter');
    expect(await desk.hear(first)).toEqual([{ verdict: 'done' }]);
    expect(await desk.types()).toEqual(['task_submitted', 'node_ready']);
  });

  test('withdraws the handoff when whoever recorded it came no further', async () => {
    const { desk, letter } = await parked();
    const { decide } = desk.lineages;
    desk.lineages.decide = () => Promise.reject(new Error('the store is away'));
    await expect(desk.replay(letter)).rejects.toThrow('the store is away');
    desk.lineages.decide = decide;
    expect(desk.published).toHaveLength(1);
    expect(await desk.replay(letter)).toMatchObject({ changed: false, status: 'replayed' });
    expect((await desk.types()).at(-1)).toBe('handoff_withdrawn');
  });

  test('of no lineage works, too', async () => {
    const desk = new Desk();
    const event = await desk.append('protocol-p', {
      type: 'node_ready',
      schema_version: 9,
      data: { root: 'protocol-p' },
    });
    const letter = await desk.park(event);
    expect((await desk.steps(letter))[0]?.data).toMatchObject({ root: null });
    expect(await desk.replay(letter)).toMatchObject({ status: 'replayed' });
    expect(desk.published.map(({ only }) => only?.reader)).toEqual([READER]);
  });

  test('of a lineage that is not in this store works, too', async () => {
    const desk = new Desk();
    const event = await desk.append('gate-x-1', { type: 'node_ready', schema_version: 9, data: { root: 'nowhere' } });
    expect(await desk.replay(await desk.park(event))).toMatchObject({ status: 'replayed' });
  });

  test.each([
    ['that nobody knows', 'dead_letter_unknown', (desk: Desk) => desk.replay('validator-0')],
    [
      'whose event is not in the store',
      'event_not_stored',
      async (desk: Desk) => desk.replay(await desk.park({ ...(await desk.readyEvent()), id: 'elsewhere' })),
    ],
    [
      'whose reader does not read such events',
      'reader_unknown',
      async (desk: Desk) => desk.replay(await desk.park(await desk.pass())),
    ],
    [
      'that was discarded',
      'dead_letter_discarded',
      async (desk: Desk) => {
        const letter = await desk.park(await desk.readyEvent());
        await desk.discard(letter);
        return desk.replay(letter);
      },
    ],
  ])('%s is refused', async (_name, code, ask) => {
    const desk = new Desk();
    await desk.submit();
    await expect(ask(desk)).rejects.toMatchObject({ code });
  });
});

describe('discarding a dead letter', () => {
  test('F7: has its reader go on without the event, says who decided that and why, and withdraws the handoff', async () => {
    const { desk, letter } = await parked();
    expect(await desk.discard(letter, 'bob')).toMatchObject({ status: 'discarded', changed: true });
    expect((await desk.steps(letter)).at(-1)).toMatchObject({
      ...{ type: 'dead_letter_discarded', data: { reason: 'not needed', event_type: 'node_ready' } },
      metadata: { actor: 'bob' },
    });
    expect((await desk.newest('handoff_withdrawn')).reason).toBe('dead_letter_discarded');
    expect(desk.published).toEqual([]);
  });

  test('twice is discarding it once', async () => {
    const { desk, letter } = await parked();
    await desk.discard(letter);
    expect(await desk.discard(letter, 'bob')).toMatchObject({ changed: false });
    expect(await desk.steps(letter)).toHaveLength(2);
  });

  test('leaves a handoff that has another cause, without this one', async () => {
    const { desk, letter } = await parked();
    const gate = await desk.park({ ...(await desk.readyEvent()), id: 'of another kind', type: 'node_verified_action' });
    await desk.discard(letter);
    expect((await desk.types()).slice(2)).toEqual(['human_required', 'handoff_updated', 'handoff_cause_ended']);
    await desk.discard(gate);
    expect((await desk.types()).at(-1)).toBe('handoff_withdrawn');
  });

  test('leaves the human who is the only one to go on with', async () => {
    const { desk, letter } = await parked();
    const { root, task, address, run } = await desk.ready();
    await desk.hear(
      await desk.say(gateStream(task, run), 'governance_escalated', {
        ...{ root, task, address, run, halt_type: 'escalate', raw_halt_type: 'no_consensus', verdicts: [] },
      }),
    );
    await desk.discard(letter);
    expect((await desk.types()).slice(2)).toEqual(['human_required', 'handoff_updated']);
  });
});
