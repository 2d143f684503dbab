import { faultClassSchema } from '@fixpoint/contracts/events/executor-events';
import { fold } from '@fixpoint/decider/decider';
import { builtInMode } from '@fixpoint/documents/built-in-protocol';
import { describe, expect, test } from '@jest/globals';
import { after, backoffMs } from './backoff.ts';
import { lineage } from './decide.ts';
import { mode, NOW, nodeSpec, Play, ROOT, ref, taskSpec, verdict } from './lineage.fixture.ts';

const CLASSES = faultClassSchema.options;
type FaultClass = (typeof CLASSES)[number];
/** A source that is not there will not come by waiting: a human is asked at once (faults.spec.ts). */
const RETRIED = CLASSES.filter((name) => name !== 'source');

/** The mode of tests with the back-offs that nobody has to write down. */
const withBackoffs = () => ({ ...mode(), backoffs: builtInMode.backoffs });
const fail = (play: Play, fault_class: FaultClass): string[] => play.end({ outcome: 'faulted', fault_class });

/** Waits in s before each new run, until somebody is told. */
const waitsOf = (play: Play, name: FaultClass): number[] => {
  const waits: number[] = [];
  while (!fail(play, name).includes('human_required')) {
    waits.push((Date.parse(play.last('fault_recorded').next_at) - Date.parse(play.now)) / 1_000);
    play.retry();
  }
  return waits;
};

describe('a class of faults', () => {
  const tries = (name: FaultClass, bounds: Parameters<typeof mode>[0]): number =>
    waitsOf(new Play({ ...mode(bounds), backoffs: builtInMode.backoffs }).submit(), name).length;

  test('H-T84 has a cap of its own, and where it has none that of all', () => {
    const bounds = { faults: 2, fault_caps: { network: 4 } };
    expect([tries('network', bounds), tries('disk', bounds)]).toEqual([4, 2]);
  });

  test('H-B17: a refused key is never tried again by itself: it is the infrastructure’s, and nobody’s attempt', () => {
    const play = new Play({ ...mode(builtInMode.bounds), backoffs: builtInMode.backoffs }).submit();
    expect(fail(play, 'provider_auth')).toEqual(['fault_recorded', 'human_required']);
    expect(play.last('human_required')).toMatchObject({ help: 'infrastructure', tried: { fix_attempts: 0 } });
    expect(play.unit.affinity).toBe(0);
  });

  test('H-T81 H-B10: limits of a provider cost no attempt, no fix and no rank, however long they last', () => {
    const play = new Play({ ...mode(builtInMode.bounds), backoffs: builtInMode.backoffs }).submit();
    expect(waitsOf(play, 'rate_limit')).toEqual([4, 8, 16, 32]);
    expect(play.root.node.counters).toMatchObject({ execute: 0, iterations: 0 });
    expect([play.unit.fixAttempts, play.unit.affinity, play.unit.stall]).toEqual([0, 0, null]);
  });

  test('A15 is never tried again sooner than its back-off says, by the times in the events', () => {
    for (const name of RETRIED.filter((each) => !['lost_executor', 'shutdown'].includes(each))) {
      const waits = waitsOf(new Play(withBackoffs()).submit(), name);
      expect([name, Math.min(...waits) >= 1]).toEqual([name, true]);
    }
  });

  test.each(RETRIED)('I-T32: %s has a back-off, a bound and an end', (name) => {
    const play = new Play(withBackoffs()).submit();
    const waits = waitsOf(play, name);
    expect(waits).toHaveLength(play.mode.bounds.faults);
    expect(waits.every((wait) => wait >= 0 && wait <= 60)).toBe(true);
    expect(play.last('human_required')).toMatchObject({ help: 'infrastructure', raw_halt_type: name });
  });

  test('I-T25: rate limits are waited out for longer each time, and then a human is asked', () => {
    expect(waitsOf(new Play(withBackoffs()).submit(), 'rate_limit')).toEqual([4, 8, 16, 32, 32]);
  });

  test('I-T35 U-T32: the network is given up to a minute', () => {
    expect(waitsOf(new Play(withBackoffs()).submit(), 'network')).toEqual([5, 10, 20, 40, 60]);
    expect(backoffMs(builtInMode, 'network', 6)).toBe(60_000);
  });

  test('I-T26: a wait stays what it was at the end of its list, however often it is asked for', () => {
    for (const name of [...CLASSES, 'indeterminate', 'unheard_of']) {
      const most = backoffMs(builtInMode, name, Number.MAX_SAFE_INTEGER);
      expect([name, most]).toEqual([
        name,
        Math.max(...(builtInMode.backoffs[name] ?? builtInMode.backoffs.default ?? [])),
      ]);
      expect(Date.parse(after(NOW, most)) - Date.parse(NOW)).toBe(most);
    }
  });

  test('I-T31: what nobody has a name for is retried within its bound, and is then a human’s', () => {
    const play = new Play(withBackoffs()).submit();
    play.end({ outcome: 'faulted', fault_class: null });
    expect(play.last('fault_recorded').class).toBe('internal');
    play.retry();
    expect(waitsOf(play, 'internal')).toEqual([2, 4, 8, 16]);
  });
});

describe('a fault that passes', () => {
  test('I-T36: is retried until the run succeeds, and leaves no trace in what the task may still use', () => {
    const play = new Play().submit();
    for (let n = 1; n <= 4; n += 1) {
      fail(play, 'network');
      play.retry();
    }
    expect(play.judge()).toEqual(['node_completed', 'task_completed']);
    expect(play.facts.filter(({ type }) => type === 'run_counted')).toEqual([]);
  });

  test('I-T37: is counted in absolute numbers, each with what came before the last evidence', () => {
    const play = new Play().submit();
    for (let n = 1; n <= 3; n += 1) {
      fail(play, 'disk');
      play.retry();
      if (n === 2) play.unmet();
    }
    const told = play.facts.flatMap((fact) => (fact.type === 'fault_recorded' ? [fact.data] : []));
    expect(told.map(({ count, count_at_last_evidence }) => [count, count_at_last_evidence])).toEqual([
      [1, 0],
      [2, 0],
      [3, 2],
    ]);
  });
});

describe('a fault that does not', () => {
  test('I-T39: opens a handoff that says what failed and what a human may do; the task is not over', () => {
    const play = new Play(mode({ faults: 1 })).submit();
    fail(play, 'provider_auth');
    play.retry();
    play.end({ outcome: 'faulted', fault_class: 'provider_auth', detail: 'the key is not known' });
    const { halt_type, raw_halt_type, help, decisions } = play.last('human_required');
    expect({ halt_type, raw_halt_type, help }).toEqual({
      halt_type: 'environment_error',
      raw_halt_type: 'provider_auth',
      help: 'infrastructure',
    });
    expect(decisions).toContain('retry');
    expect(play.root.status).toBe('open');
  });

  test('I-T40: is remembered by whoever reads the log anew', () => {
    const play = new Play(mode({ faults: 2 })).submit();
    fail(play, 'disk');
    play.retry();
    fail(play, 'disk');
    expect(fold(lineage, lineage.initial, play.facts)).toEqual(play.state);
    play.retry();
    expect(fail(play, 'disk')).toEqual(['fault_recorded', 'human_required']);
  });

  test('S-T59: of a run whose whole time was over without evidence spawns no fix and blocks nothing', () => {
    const play = new Play(mode({ faults: 1 })).submit();
    fail(play, 'run_timeout');
    play.retry();
    fail(play, 'run_timeout');
    expect(play.last('human_required').halt_type).toBe('environment_error');
    expect([play.count('subtask_spawned'), play.count('task_blocked'), play.root.node.counters.execute]).toEqual([
      0, 0, 0,
    ]);
  });
});

describe('a fault that speaks of a provider', () => {
  const asking = (): Play => new Play({ ...mode(builtInMode.bounds), backoffs: builtInMode.backoffs });
  const submitted = (play: Play): Play => play.submit(taskSpec([nodeSpec({ max_repair_attempts: 1 })]));

  test('names it', () => {
    const play = submitted(asking());
    fail(play, 'rate_limit');
    expect(play.last('fault_recorded')).toMatchObject({ provider: 'model.default', retry_after_ms: 0 });
    play.retry();
    fail(play, 'disk');
    expect(play.last('fault_recorded').provider).toBeNull();
  });

  test('is not taken for one of the run’s model when its judge asked another', () => {
    const play = submitted(asking());
    const { task, run } = play.ready;
    const fault = { type: 'fault_run', task, run, phase: 'judge', class: 'rate_limit', retryAfterMs: 0 } as const;
    play.send({ ...fault, detail: '', result: play.result({}), effects: 'none' });
    expect(play.last('fault_recorded').provider).toBeNull();
  });

  test('H-B17: of a key that is refused is the provider’s, which is paused at once: the unit waits, within bounds', () => {
    const play = submitted(asking());
    expect(waitsOf(play, 'provider_auth')).toHaveLength(builtInMode.bounds.faults);
    expect(play.last('human_required')).toMatchObject({ help: 'infrastructure', raw_halt_type: 'provider_auth' });
  });

  test('H-T81: takes nothing from what the unit may still meet while the provider is paused', () => {
    const play = submitted(asking());
    fail(play, 'rate_limit');
    for (let probe = 1; probe <= 50; probe += 1) {
      play.retry();
      play.admission = { room: true, paused: ['model.default'] };
      expect(fail(play, 'rate_limit')).toEqual(['fault_recorded']);
      play.admission = { room: true, paused: [] };
    }
    expect(play.last('fault_recorded')).toMatchObject({ count: 51, count_at_last_evidence: 50 });
    play.retry();
    expect(waitsOf(play, 'rate_limit')).toEqual([8, 16, 32]);
  });
});

describe('a judge that could not be asked', () => {
  const unjudged = (): Play => {
    const play = new Play().submit();
    const result = play.result({ workspace_ref: ref('done') });
    const { task, run } = play.ready;
    play.send({
      ...{ type: 'fault_run', task, run, phase: 'judge', class: 'network', retryAfterMs: 0, detail: '' },
      ...{ result, effects: 'none' },
    });
    play.retry();
    return play;
  };

  test('S-T50: is asked again about the same result; the work is not done again', () => {
    expect(unjudged().ready).toMatchObject({ task: ROOT, run_kind: 'check', workspace_ref: ref('done') });
  });

  test('S-T54: and then objects leads to an ordinary recovery from that result', () => {
    const play = unjudged();
    play.judge([verdict('lint')], { workspace_ref: ref('done') });
    expect(play.last('subtask_spawned')).toMatchObject({ fix_attempts: 1, workspace_ref: ref('done') });
  });
});
