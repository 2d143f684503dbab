import type { Admitted, Task } from '@fixpoint/orchestrator/domain/lineage/state';
import { type Allowed, answersTo, answersToRequest, type Move, type OfRun, type Told } from './answers.ts';
import { cancelsIn, lateFrom } from './people.ts';

const inFlight = (task: Task): readonly OfRun[] =>
  task.current === null ? [] : [{ task, run: task.current.run, kind: task.current.kind }];

/** The newest run that was answered, given up or revoked: what is said of it now is late. Of older ones it was before. */
const over = (task: Task): readonly OfRun[] => {
  const run = task.current === null ? task.runs : task.runs - 1;
  return run === 0 ? [] : [{ task, run, kind: 'normal' }];
};

const timer = (name: string, told: Extract<Told, { type: 'timer_due' }>['timer']): Move => ({
  name,
  told: { type: 'timer_due', timer: told },
});

const timersOf = (state: Admitted, task: Task): readonly Move[] => {
  const request = state.units[task.id]?.request;
  const epic = state.epics[task.epic ?? ''];
  return [
    ...(task.retry === null
      ? []
      : [timer(`${task.address} retries`, { kind: 'retry', task: task.id, run: task.retry.after })]),
    ...(request === undefined || request.retryAt === null
      ? []
      : [timer(`${task.address} asks again`, { kind: 'request', task: task.id, request: request.number })]),
    ...(epic === undefined || epic.recompose.retryAt === null
      ? []
      : [
          timer(`${task.address} is assembled again`, {
            ...{ kind: 'recompose', task: task.id, attempt: epic.recompose.failed },
          }),
        ]),
  ];
};

const requestOf = (state: Admitted, task: Task): readonly Move[] => {
  const request = state.units[task.id]?.request;
  return request?.open === true ? answersToRequest(state, { task, request: request.number }) : [];
};

/** What comes by itself: answers that are awaited, and times that were set. Without any a lineage is at rest. */
export const awaitedIn = (state: Admitted): readonly Move[] => {
  const tasks = Object.values(state.tasks);
  return [
    ...tasks.flatMap((task) => inFlight(task).flatMap((of) => answersTo(state, of))),
    ...tasks.flatMap((task) => requestOf(state, task)),
    ...tasks.flatMap((task) => timersOf(state, task)),
  ];
};

/** What may come as well, or never. */
export const unawaitedIn = (state: Admitted): readonly Move[] => [
  ...cancelsIn(state),
  { ...timer('the deadline passes', { kind: 'deadline' }), costs: 'deadlines' },
];

export const isAllowed = ({ costs }: Pick<Move, 'costs'>, allowed: Allowed): boolean =>
  costs === undefined || allowed[costs] > 0;

/** What is said too late or once more, about everything that the last move changed: it must change nothing. */
export const lateIn = (state: Admitted, before: Admitted | null): readonly Move[] =>
  Object.values(state.tasks)
    .filter((task) => before?.tasks[task.id] !== task || before.units[task.id] !== state.units[task.id])
    .flatMap((task) => [
      ...over(task).flatMap((of) => answersTo(state, of)),
      ...lateRequests(state, task),
      ...staleTimers(task),
      ...lateFrom(state, task),
    ]);

const lateRequests = (state: Admitted, task: Task): readonly Move[] => {
  const request = state.units[task.id]?.request ?? { number: 0, open: false };
  const newest = request.open ? request.number - 1 : request.number;
  return Array.from({ length: newest }, (_, index) => index + 1).flatMap((number) =>
    answersToRequest(state, { task, request: number }),
  );
};

const staleTimers = (task: Task): readonly Move[] =>
  over(task)
    .filter(({ run }) => run !== task.retry?.after)
    .map(({ run }) => timer(`${task.address} retries after ${run}`, { kind: 'retry', task: task.id, run }));
