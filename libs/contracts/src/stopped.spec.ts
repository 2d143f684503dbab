import { expect, test } from '@jest/globals';
import { stoppedBy } from './stopped.ts';

test.each([
  ['a hard stop: its task', { type: 'task_blocked', data: { task: 'r' } }, ['r']],
  [
    'a cancel: its unit and all below it',
    { type: 'task_cancelled', data: { task: 'r', ended_tasks: ['r.1'] } },
    ['r', 'r.1'],
  ],
  ['a unit that was given up, likewise', { type: 'task_abandoned', data: { task: 'r', ended_tasks: [] } }, ['r']],
  ['what stops nothing', { type: 'task_completed', data: { task: 'r' } }, []],
  ['what makes no sense', { type: 'task_cancelled', data: { task: 1, ended_tasks: 'r.1' } }, []],
  ['no data', { type: 'task_cancelled', data: null }, []],
])('is told by %s', (_, event, tasks) => {
  expect(stoppedBy(event)).toEqual(tasks);
});
