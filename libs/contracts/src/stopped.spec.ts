import { expect, test } from '@jest/globals';
import { stoppedBy } from './stopped.ts';

const all = (task: string) => ({ task, run: null });

test.each([
  ['a hard stop: its task', { type: 'task_blocked', data: { task: 'r' } }, [all('r')]],
  [
    'a cancel: its unit and all below it',
    { type: 'task_cancelled', data: { task: 'r', ended_tasks: ['r.1'] } },
    [all('r'), all('r.1')],
  ],
  ['a unit that was given up, likewise', { type: 'task_abandoned', data: { task: 'r', ended_tasks: [] } }, [all('r')]],
  [
    'a split: the runs that the unit had, and its fixes for good',
    { type: 'epic_opened', data: { task: 'r', revoked_runs: [3], ended_tasks: ['r.f1'] } },
    [{ task: 'r', run: 3 }, all('r.f1')],
  ],
  [
    'a fault: the run that it answered, or that nobody answered',
    { type: 'fault_recorded', data: { task: 'r', run: 2 } },
    [{ task: 'r', run: 2 }],
  ],
  ['what stops nothing', { type: 'task_completed', data: { task: 'r' } }, []],
  ['what makes no sense', { type: 'task_cancelled', data: { task: 1, ended_tasks: 'r.1' } }, []],
  ['no data', { type: 'task_cancelled', data: null }, []],
])('is told by %s', (_, event, stopped) => {
  expect(stoppedBy(event)).toEqual(stopped);
});
