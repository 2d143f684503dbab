import { STOP_TYPES } from './services.ts';

/** What nothing more may be done for: a task that is over for good, or one run of a task that goes on in another way. */
export interface Stopped {
  readonly task: string;
  /** Null: all that is done for the task, for ever. */
  readonly run: number | null;
}

interface StopData {
  readonly task?: unknown;
  readonly run?: unknown;
  readonly ended_tasks?: unknown;
  readonly revoked_runs?: unknown;
}

/** Events that end something. Of a fault nobody needs to be told at once: it answered the run, or nobody else did. */
const ENDS: readonly string[] = [...STOP_TYPES, 'fault_recorded'];

/** What an event says is over. Empty for all other events. */
export const stoppedBy = ({ type, data }: { readonly type: string; readonly data: unknown }): readonly Stopped[] => {
  if (!ENDS.includes(type) || typeof data !== 'object' || data === null) return [];
  const { task, run, ended_tasks, revoked_runs }: StopData = data;
  const below = listed(ended_tasks, isText).map((ended) => ({ task: ended, run: null }));
  if (!isText(task)) return below;
  // What was given up comes again under another number.
  if (type === 'fault_recorded') return isNumber(run) ? [{ task, run }] : [];
  // A unit that was split is assembled from its children later on: only the runs that it had are over.
  const own = type === 'epic_opened' ? listed(revoked_runs, isNumber) : [null];
  return [...own.map((run) => ({ task, run })), ...below];
};

const listed = <Each>(value: unknown, is: (each: unknown) => each is Each): readonly Each[] =>
  Array.isArray(value) ? value.filter(is) : [];

const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number';
