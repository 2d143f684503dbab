import { readdirSync, readFileSync } from 'node:fs';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { describe, expect, test } from '@jest/globals';
import { progressLine } from './progress-line.ts';

const SAMPLES = new URL('../../../libs/contracts/samples/', import.meta.url);
const read = (file: string): RecordedEvent => JSON.parse(readFileSync(new URL(file, SAMPLES), 'utf8'));
const sample = (type: string, data: object = {}): RecordedEvent => {
  const event = read(`${type}.v1.json`);
  return { ...event, data: { ...(event.data as object), ...data } };
};

describe('the progress of a lineage', () => {
  test.each([
    ['node_ready', {}, '0#2 commit: next, its first run'],
    ['node_queued', {}, '0#2 waits in the queue for a slot of deploy/web-shop'],
    [
      'node_queued',
      { queued_for: 'provider' },
      '0#2 waits for a provider that is paused, of git.github.com, model.default',
    ],
    ['node_queued', { queued_for: 'window' }, '0#2 waits in the queue for room'],
    ['node_queued', { queued_for: 'rank', affinity: -15 }, '0#2 waits: its rank is -15, too low to start'],
    ['node_queued', { queued_for: 'budget' }, '0#2 waits for more budget'],
    ['tool_called', {}, "0#2 recipe/recipe: failed, exit 128: git add -A -- . ':!__pycache__' && git commit -m deps"],
    [
      'tool_called',
      { exit_code: null, signal: 'SIGKILL', outcome: 'timed_out', command: 'sleep 9' },
      '0#2 recipe/recipe: timed_out, SIGKILL: sleep 9',
    ],
    ['run_counted', {}, '0#2 commit: unmet; attempts: 1'],
    ['node_skipped', {}, "0 announce: skipped: inputs.channel != 'none'"],
    ['node_completed', {}, '0 commit: done'],
    ['node_completed', { outcome: 'degraded' }, '0 commit: degraded'],
    ['post_validated', {}, '0#2 commit: judged recover (lint blocker)'],
    ['subtask_spawned', {}, 'fix 0~1 for lint: number 1, depth 1'],
    ['recovery_exhausted', {}, '0: recovery ended by max_recovery_depth (limit 3, asked for 4)'],
    ['human_required', {}, '0: waits for a human (execute_used_up): 3 of 3 runs ended unmet'],
    ['task_stalled', { counter: 'execute', used: 3, limit: 3 }, '0: stalled, execute used up (3 of 3)'],
    [
      'task_stalled',
      { counter: 'escalation', used: 0, limit: 0, raw_halt_type: 'ci' },
      '0: stalled before it was handed in (ci)',
    ],
    ['task_completed', {}, '0: completed, satisfied'],
    ['governance_blocked', {}, '0#2 may not start: command_rule'],
    ['task_blocked', {}, '0: blocked (non_overridable_blocker): secrets: A private key in the diff'],
    ['task_blocked', { verdicts: [], detail: 'why' }, '0: blocked (non_overridable_blocker): why'],
    ['dead_lettered', {}, 'orchestrator__decide gave a message up: event_type_unknown'],
  ])('%s %j', (type, data, line) => {
    expect(progressLine(sample(type, data))).toBe(line);
  });

  test('says for what and until when it waits, and which attempt that was', () => {
    expect(progressLine(sample('fault_recorded'))).toBe(
      '0#2 waits until 2026-01-15T09:30:01.000Z: fault lost_executor in the action, 1 so far: the lease of executor-1 ran out',
    );
    const counters = { execute: 0, judge: 0, iterations: 2, indeterminate: 2 };
    expect(
      progressLine(sample('run_counted', { outcome: 'indeterminate', counters, next_at: '2026-01-15T10:00:00.000Z' })),
    ).toBe('0#2 commit: indeterminate; check that could not run: 2; waits until 2026-01-15T10:00:00.000Z');
  });

  test('every type is either a line or nothing to see', () => {
    for (const file of readdirSync(SAMPLES)) {
      const line = progressLine(read(file));
      expect([file, line === null || (line.length > 0 && !line.includes('undefined') && !line.includes('\n'))]).toEqual(
        [file, true],
      );
    }
  });

  test('an event of a later release is named and stops nothing', () => {
    expect(progressLine({ ...sample('node_ready'), type: 'node_praised' })).toBe(
      'node_praised (not known to this release)',
    );
  });
});
