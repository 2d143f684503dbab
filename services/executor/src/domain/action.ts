import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import type { Decider } from '@fixpoint/decider/decider';

type ActionStarted = EventNamed<'action_started'>;
type ToolCalled = EventNamed<'tool_called'>;
type NodeVerifiedAction = EventNamed<'node_verified_action'>;
type ResultDelivered = EventNamed<'result_delivered'>;
type RunRefused = EventNamed<'run_refused'>;

export type ActionEvent =
  | ActionStarted
  | ToolCalled
  | ResultDelivered
  | NodeVerifiedAction
  | RunRefused
  | EventNamed<'run_revoked'>;

export type ActionCommand =
  | { readonly type: 'start_action'; readonly data: ActionStarted['data'] }
  | { readonly type: 'refuse_run'; readonly data: RunRefused['data'] }
  | { readonly type: 'record_tool_call'; readonly owner: string; readonly data: ToolCalled['data'] }
  | {
      readonly type: 'end_run';
      readonly owner: string;
      readonly data: NodeVerifiedAction['data'];
      /** What a run of kind `deliver` has seen where it brought its result; null for all others. */
      readonly delivered: ResultDelivered['data'] | null;
    }
  /** A run whose owner is gone: ended as a fault by whoever finds it. */
  | { readonly type: 'declare_lost'; readonly data: NodeVerifiedAction['data'] }
  /** Work that needs no process: start, calls and end are one decision, so that it can't be lost half way. */
  | {
      readonly type: 'run_in_process';
      readonly started: ActionStarted['data'];
      readonly calls: readonly ToolCalled['data'][];
      readonly ended: NodeVerifiedAction['data'];
    };

type EndRun = Extract<ActionCommand, { type: 'end_run' }>;

export type Action =
  | { readonly status: 'unknown' }
  | { readonly status: 'started'; readonly owner: string; readonly calls: number }
  | { readonly status: 'ended' }
  /** Refused or revoked before it started: it never will. */
  | { readonly status: 'void' };

const evolve = (state: Action, event: ActionEvent): Action => {
  switch (event.type) {
    case 'action_started':
      return { status: 'started', owner: event.data.owner, calls: 0 };
    case 'tool_called':
      return state.status === 'started' ? { ...state, calls: event.data.seq } : state;
    case 'node_verified_action':
      return { status: 'ended' };
    case 'run_refused':
    case 'run_revoked':
      return { status: 'void' };
    default:
      return state;
  }
};

const startAction = (data: ActionStarted['data'], state: Action): ActionEvent[] =>
  state.status === 'unknown' ? [{ type: 'action_started', data }] : [];

const recordToolCall = (owner: string, data: ToolCalled['data'], state: Action): ActionEvent[] => {
  if (state.status !== 'started' || state.owner !== owner || data.seq !== state.calls + 1) return [];
  return [{ type: 'tool_called', data }];
};

/** One decision, so that nothing is said to be delivered by a run that has another end. */
const endRun = ({ owner, data, delivered }: EndRun, state: Action): ActionEvent[] => {
  if (state.status !== 'started' || state.owner !== owner) return [];
  const ended: NodeVerifiedAction = { type: 'node_verified_action', data };
  return delivered === null ? [ended] : [{ type: 'result_delivered', data: delivered }, ended];
};

const runInProcess = (command: Extract<ActionCommand, { type: 'run_in_process' }>, state: Action): ActionEvent[] => {
  if (state.status !== 'unknown') return [];
  return [
    { type: 'action_started', data: command.started },
    ...command.calls.map((data): ToolCalled => ({ type: 'tool_called', data })),
    { type: 'node_verified_action', data: command.ended },
  ];
};

const decide = (command: ActionCommand, state: Action): readonly ActionEvent[] => {
  switch (command.type) {
    case 'start_action':
      return startAction(command.data, state);
    case 'refuse_run':
      return state.status === 'unknown' ? [{ type: 'run_refused', data: command.data }] : [];
    case 'record_tool_call':
      return recordToolCall(command.owner, command.data, state);
    case 'end_run':
      return endRun(command, state);
    case 'declare_lost':
      return state.status === 'started' ? [{ type: 'node_verified_action', data: command.data }] : [];
    case 'run_in_process':
      return runInProcess(command, state);
    default:
      return command satisfies never;
  }
};

/**
 * Stream `action-{task}-{run}`: what was done in one run. Its first event decides for good whether the run starts
 * (`action_started`: the token is used), was refused, or was revoked by the orchestrator.
 */
export const action: Decider<ActionCommand, ActionEvent, Action> = { initial: { status: 'unknown' }, decide, evolve };
