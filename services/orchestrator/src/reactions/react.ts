import type { EventNamed, EventType } from '@fixpoint/contracts/events/catalogue';
import type { Context, LineageCommand, RunResult } from '../domain/lineage/commands.ts';

type CommandOf<Command> = Command extends unknown ? Omit<Command, keyof Context> : never;

/** A command before anybody has said what time it is and which mode applies. */
export type LineageAnswer = CommandOf<Exclude<LineageCommand, { readonly type: 'submit_task' }>>;

/** What an event means for its lineage. */
export type Reaction =
  | { readonly reaction: 'command'; readonly root: string; readonly command: LineageAnswer }
  /** The command is about what the run left, which stands on the run's action stream. */
  | {
      readonly reaction: 'command_on_result';
      readonly root: string;
      readonly task: string;
      readonly run: number;
      readonly commandOn: (result: RunResult) => LineageAnswer;
    }
  /** A good result waits for its judgement; it will be asked for then. */
  | { readonly reaction: 'remember'; readonly result: RunResult }
  | { readonly reaction: 'ignore'; readonly reason: string };

const command = (root: string, answer: LineageAnswer): Reaction => ({ reaction: 'command', root, command: answer });

/** Pure: an event in, the command for its lineage out. Events of other kinds mean nothing here. */
export const react = (event: EventNamed<EventType>): Reaction => {
  switch (event.type) {
    case 'governance_blocked':
      return command(event.data.root, { type: 'block_run', answer: event.data });
    case 'governance_escalated':
      return command(event.data.root, { type: 'escalate_run', answer: event.data });
    case 'gate_faulted':
      return gateFaulted(event.data);
    case 'run_refused':
      return command(event.data.root, { type: 'refuse_run', answer: event.data });
    case 'node_verified_action':
      return runEnded(event.data);
    case 'post_validated':
      return judged(event.data);
    case 'split_decided':
      return command(event.data.root, { type: 'decide_split', answer: event.data });
    case 'council_faulted':
      return councilFaulted(event.data);
    case 'dead_lettered':
      return deadLettered(event.data);
    default:
      return { reaction: 'ignore', reason: `${event.type} means nothing to a lineage` };
  }
};

type Data<Type extends EventType> = EventNamed<Type>['data'];

const gateFaulted = (data: Data<'gate_faulted'>): Reaction => {
  const { root, task, run, phase, class: name, retry_after_ms: retryAfterMs, detail } = data;
  const fault = { type: 'fault_run', task, run, phase, class: name, retryAfterMs, detail, effects: 'none' } as const;
  if (phase === 'gate') return command(root, { ...fault, result: null });
  return { reaction: 'command_on_result', root, task, run, commandOn: (result) => ({ ...fault, result }) };
};

const councilFaulted = (data: Data<'council_faulted'>): Reaction => {
  const { root, task, request, class: name, retry_after_ms: retryAfterMs, detail, provider = null } = data;
  return command(root, { type: 'give_up_request', task, request, class: name, retryAfterMs, detail, provider });
};

const runEnded = (result: RunResult): Reaction => {
  const isGood = result.outcome === 'satisfied' || result.outcome === 'degraded';
  if (isGood && result.firewall_broken === null) return { reaction: 'remember', result };
  return command(result.root, { type: 'end_run', result });
};

const judged = (judgement: Data<'post_validated'>): Reaction => {
  const { root, task, run } = judgement;
  const commandOn = (result: RunResult): LineageAnswer => ({ type: 'judge_run', judgement, result });
  return { reaction: 'command_on_result', root, task, run, commandOn };
};

const deadLettered = (letter: Data<'dead_lettered'>): Reaction =>
  letter.root === null
    ? { reaction: 'ignore', reason: 'a dead letter outside a lineage' }
    : command(letter.root, { type: 'dead_letter', letter });
