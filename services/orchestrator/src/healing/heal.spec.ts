import { actionStream, lineageStream } from '@fixpoint/contracts/streams';
import { describe, expect, test } from '@jest/globals';
import { mode, ROOT } from '../domain/lineage/lineage.fixture.ts';
import { World } from '../orchestrator.fixture.ts';
import { memoryWaits } from '../waits/memory-waits.ts';
import { heal } from './heal.ts';
import { ring } from './ring.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** The healer and the timers of a world, run in rounds. */
class Healing extends World {
  constructor(bounds: Parameters<typeof mode>[0] = {}) {
    super(mode({ deadline_ms: DAY, ...bounds }));
  }

  override readonly waits = memoryWaits(this.store, this.clock);
  isBusUp = true;
  private blindUntil = 0;
  readonly troubles: unknown[] = [];
  private uuids = 0;
  private readonly parts = {
    ...{ store: this.store, publisher: this.publisher, clock: this.clock, waits: this.waits },
    ...{ lineages: this.lineages, results: this.results },
    bus: { healthy: () => this.isBusUp },
    ids: { uuid: () => `uuid ${++this.uuids}` },
    report: (error: unknown) => void this.troubles.push(error),
  };

  /** Moves time on in steps of 5 s, with a round of every loop after each. */
  async passTime(ms: number): Promise<void> {
    const keep = (signal: AbortSignal) =>
      this.clock.monotonicMs() < this.blindUntil ? Promise.resolve() : this.waits.keep(signal);
    for (let passed = 0; passed < ms; passed += 5_000) {
      await this.clock.advance(5_000);
      for (const step of [keep, heal(this.parts), ring(this.parts), keep]) await this.round(step);
    }
  }

  /** A round ends when it would sleep. */
  private async round(step: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const stop = new AbortController();
    const done = step(stop.signal);
    await this.clock.advance(0);
    stop.abort();
    await done;
  }

  /** The run starts, and the rows do not know of it for a while. */
  async startsUnseen(forMs = 2 * MINUTE): Promise<void> {
    await this.start();
    this.blindUntil = this.clock.monotonicMs() + forMs;
  }

  /** The gate gives the newest `node_ready` up, as it does with every one, however often it is offered. */
  async gateGivesUp(): Promise<void> {
    const { task, run } = await this.ready();
    const letter = await this.say(`dead-validator-${run}`, 'dead_lettered', {
      ...{ service: 'validator', reader: 'validator__gate', event_id: `of ${run}`, event_type: 'node_ready' },
      ...{ event_version: 1, root: ROOT, task, run, deliveries: 5, reason: `can not read run ${run}` },
    });
    await this.hear(letter);
  }

  offers(type: string): number {
    return this.published.filter(({ offer }) => offer.event.type === type).length;
  }
}

describe('what nobody answers', () => {
  test('U-T47 is offered again under a new message id, with the run it is about', async () => {
    const world = new Healing();
    await world.submit();
    await world.pass(); // The message about it is lost.
    await world.passTime(10_000);
    const [again] = world.published;
    expect(again?.offer.event.type).toBe('governance_passed');
    expect(again?.offer.nodeReady?.type).toBe('node_ready');
    expect(again?.reoffer).toBe('uuid 1');
  });

  test('is offered less and less often', async () => {
    const world = new Healing();
    await world.submit();
    await world.passTime(215_000);
    expect(world.offers('node_ready')).toBe(4);
  });

  test('is ours: a judgement whose message was lost is heard in the end', async () => {
    const world = new Healing();
    await world.submit();
    await world.end();
    await world.judge();
    await world.passTime(10_000);
    const [again] = world.published;
    await world.reader.handle(again ? [again.offer] : [], new AbortController().signal);
    expect(await world.types()).toContain('task_completed');
  });

  test('before a start is revoked, so that it can not start, and gated anew for nothing', async () => {
    const world = new Healing();
    await world.submit();
    await world.passTime(7 * MINUTE);
    expect((await world.store.readStream(actionStream(ROOT, 1))).map((event) => event.type)).toEqual(['run_revoked']);
    expect(await world.ready()).toMatchObject({ run: 2, run_kind: 'normal', purpose: 'regate' });
    expect(await world.types()).toEqual(['task_submitted', 'node_ready', 'node_ready']);
  });

  test('for want of an executor pages nobody', async () => {
    const world = new Healing({ faults: 0 });
    await world.submit();
    for (let run = 1; run <= 8; run += 1) {
      await world.pass();
      await world.passTime(8 * MINUTE);
      expect((await world.ready()).run).toBe(run + 1);
    }
    expect(new Set(await world.types())).toEqual(new Set(['task_submitted', 'node_ready']));
  });

  test('is not revoked when it has started at the last moment', async () => {
    const world = new Healing();
    await world.submit();
    await world.passTime(5 * MINUTE + 5_000);
    await world.startsUnseen();
    await world.passTime(2 * MINUTE);
    expect((await world.store.readStream(actionStream(ROOT, 1))).map((event) => event.type)).toEqual([
      'action_started',
    ]);
    expect(await world.types()).toEqual(['task_submitted', 'node_ready']);
  });

  test('is offered no more often than anything while the rows are behind the log', async () => {
    const world = new Healing();
    await world.submit();
    await world.passTime(5 * MINUTE + 5_000);
    await world.startsUnseen(20 * MINUTE);
    const before = world.offers('node_ready');
    await world.passTime(20 * MINUTE - 5_000);
    expect(world.offers('node_ready') - before).toBeLessThanOrEqual(5);
  });

  test('after a start is never revoked: only a check tells what it did', async () => {
    const world = new Healing();
    await world.submit();
    await world.pass();
    await world.start();
    await world.passTime(12 * MINUTE);
    expect(await world.newest('fault_recorded')).toMatchObject({ class: 'no_answer', phase: 'action' });
    expect(await world.ready()).toMatchObject({ run: 2, run_kind: 'check', purpose: 'after_fault' });
  });

  test('by the judge is checked and judged anew, and the work is not done again', async () => {
    const world = new Healing();
    await world.submit();
    await world.end({ output: 'kept' });
    await world.passTime(7 * MINUTE);
    expect(await world.newest('fault_recorded')).toMatchObject({ class: 'no_answer', phase: 'judge', output: 'kept' });
    expect(await world.ready()).toMatchObject({ run: 2, run_kind: 'check' });
  });

  test('by the council is asked under a new number', async () => {
    const world = new Healing();
    await world.submit();
    for (const exit_code of [1, 1, 1]) await world.hear(await world.end({ outcome: 'unmet', exit_code }));
    await world.hear(await world.end({ outcome: 'unmet' }));
    await world.passTime(30 * MINUTE);
    expect((await world.newest('decomposition_requested')).request).toBe(2);
  });

  test('ends with a human when the machinery stays silent', async () => {
    const world = new Healing({ faults: 0 });
    await world.submit();
    await world.passTime(25 * 6 * MINUTE);
    expect(await world.newest('human_required')).toMatchObject({ help: 'infrastructure', raw_halt_type: 'no_answer' });
    const offers = world.published.length;
    await world.passTime(30 * MINUTE);
    expect(world.published).toHaveLength(offers);
  });

  test('while the bus is down is neither offered nor given up', async () => {
    const world = new Healing();
    await world.submit();
    world.isBusUp = false;
    await world.passTime(60 * MINUTE);
    expect(world.published).toEqual([]);
    world.isBusUp = true;
    await world.passTime(10_000);
    expect(world.offers('node_ready')).toBe(1);
    expect(await world.types()).toEqual(['task_submitted', 'node_ready']);
  });
});

describe('beside a dead letter', () => {
  test('S-T01 a lost message is still offered again', async () => {
    const world = new Healing();
    await world.submit();
    await world.gateGivesUp();
    await world.passTime(10_000);
    expect(world.offers('node_ready')).toBe(1);
  });

  test('a poison event reaches a human once, and ends with the bound on faults', async () => {
    const world = new Healing();
    await world.submit();
    for (let round = 0; round < 12; round += 1) {
      await world.gateGivesUp();
      await world.passTime(6 * MINUTE);
    }
    const types = await world.types();
    const count = (type: string) => types.filter((each) => each === type).length;
    expect([count('human_required'), count('node_ready'), count('fault_recorded')]).toEqual([1, 6, 6]);
    expect(types.slice(-2)).toEqual(['fault_recorded', 'handoff_updated']);
    expect(count('handoff_updated')).toBe(1);
    expect(await world.newest('handoff_updated')).toMatchObject({ raw_halt_type: 'no_answer', run_open: false });
  });
});

describe('a run that nobody here can read', () => {
  test('is left to a human, offered seldom, and never revoked', async () => {
    const world = new Healing();
    await world.submit();
    const data = { ...(await world.ready()), run: 2 };
    await world.append(lineageStream(ROOT), { type: 'node_ready', schema_version: 99, data });
    await world.passTime(60 * MINUTE);
    expect(await world.newest('human_required')).toMatchObject({
      ...{ help: 'infrastructure', raw_halt_type: 'dead_letter', run_open: true },
      detail: expect.stringContaining('event_version_unknown'),
    });
    expect((await world.types()).filter((type) => type !== 'node_ready')).toEqual(['task_submitted', 'human_required']);
    expect(world.offers('node_ready')).toBeLessThanOrEqual(15);
    expect(world.offers('node_ready')).toBeGreaterThan(5);
  });
});

describe('a timer', () => {
  test('A15 rings when it is due, and not before', async () => {
    const world = new Healing();
    await world.submit();
    await world.hear(await world.end({ outcome: 'faulted', fault_class: 'disk' }));
    expect((await world.ready()).run).toBe(1);
    await world.passTime(5_000);
    expect((await world.ready()).run).toBe(2);
    expect(world.offers('node_ready')).toBe(1);
  });

  test('rings once', async () => {
    const world = new Healing();
    await world.submit();
    await world.hear(await world.end({ outcome: 'faulted', fault_class: 'disk' }));
    await world.passTime(3 * MINUTE);
    expect((await world.types()).filter((type) => type === 'node_ready')).toHaveLength(2);
  });

  test('of the deadline ends what only waits', async () => {
    const world = new Healing({ deadline_ms: 60 * MINUTE });
    await world.submit();
    await world.hear(await world.end({ outcome: 'unmet' }));
    await world.pass();
    await world.start();
    await world.passTime(61 * MINUTE);
    expect(await world.types()).toContain('deadline_passed');
  });
});
