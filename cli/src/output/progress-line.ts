import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { EventNamed, FixpointEvent } from '@fixpoint/contracts/events/catalogue';
import { parseEvent, UnreadableEvent } from '@fixpoint/contracts/events/parse-event';
import { epicLine } from './epic-lines.ts';
import { humanLine } from './human-lines.ts';
import { oneLine } from './printable.ts';

/** What an event means for somebody who watches a lineage; null for what moves nothing they could see. */
export const progressLine = (event: RecordedEvent): string | null => {
  try {
    return lineOf(parseEvent(event));
  } catch (error) {
    if (error instanceof UnreadableEvent) return `${event.type} (not known to this release)`;
    throw error;
  }
};

const COMMAND = 70;
const DETAIL = 160;

interface Run {
  readonly address: string;
  readonly run: number;
}
const at = ({ address, run }: Run): string => `${address}#${run}`;
/** What was handed in had no bound here that could be used up. */
const stalledBy = ({ counter, used, limit, raw_halt_type }: EventNamed<'task_stalled'>['data']): string =>
  counter === 'escalation'
    ? `stalled before it was handed in (${raw_halt_type})`
    : `stalled, ${counter} used up (${used} of ${limit})`;

const because = (text: string): string => (text === '' ? '' : `: ${oneLine(text, DETAIL)}`);
const counted = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : noun.endsWith('x') ? 'es' : 's'}`;

const queuedFor = ({ queued_for, providers, concurrency, affinity }: EventNamed<'node_queued'>['data']): string => {
  switch (queued_for) {
    case 'window':
      return ' in the queue for room';
    case 'concurrency':
      return ` in the queue for a slot of ${concurrency?.key ?? 'its key'}`;
    case 'provider':
      return ` for a provider that is paused, of ${providers.join(', ')}`;
    case 'rank':
      return `: its rank is ${affinity}, too low to start`;
    case 'budget':
      return ' for more budget';
    default:
      return queued_for satisfies never;
  }
};

const lineOf = (event: FixpointEvent): string | null => {
  switch (event.type) {
    case 'task_submitted':
      return `submitted${because(event.data.spec.goal)}`;
    case 'node_ready':
      return `${at(event.data)} ${event.data.node.id}: next, ${PURPOSE[event.data.purpose]}`;
    case 'node_queued':
      return `${at(event.data)} waits${queuedFor(event.data)}`;
    case 'tool_called':
      return toolLine(event.data);
    case 'result_delivered':
      return `${at(event.data)} delivered to ${event.data.branch} of ${event.data.url}`;
    case 'node_verified_action':
      return `${at(event.data)} ${event.data.node_id}: ${event.data.outcome} at rung ${event.data.rung}`;
    case 'governance_blocked':
    case 'governance_escalated':
      return `${at(event.data)} may not start: ${event.data.raw_halt_type}`;
    case 'post_validated':
      return judgedLine(event.data);
    case 'run_counted':
      return countedLine(event.data);
    case 'fault_recorded':
      return faultLine(event.data);
    case 'node_skipped':
      return `${event.data.address} ${event.data.node_id}: skipped${because(event.data.condition)}`;
    case 'node_completed':
      return `${event.data.address} ${event.data.node_id}: ${event.data.outcome === 'degraded' ? 'degraded' : 'done'}`;
    default:
      return endLineOf(event);
  }
};

const endLineOf = (event: FixpointEvent): string | null => {
  switch (event.type) {
    case 'subtask_spawned':
      return `fix ${event.data.address} for ${event.data.triggering_validators.join(', ')}: number ${event.data.fix_attempts}, depth ${event.data.recovery_depth}`;
    case 'recovery_resolved':
      return `${event.data.address}: recovered with ${counted(event.data.attempts_used, 'fix')}`;
    case 'recovery_exhausted':
      return `${event.data.address}: recovery ended by ${event.data.reason} (limit ${event.data.limit}, asked for ${event.data.asked})`;
    case 'recovery_stalled':
      return `${event.data.address}: recovery stands still after ${counted(event.data.attempts_used, 'fix')}: the same judgement twice`;
    case 'task_stalled':
      return `${event.data.address}: ${stalledBy(event.data)}`;
    case 'decomposition_requested':
      return `${event.data.address}: asks for a split into smaller tasks`;
    case 'split_decided':
      return `${event.data.address}: ${event.data.should_decompose ? 'split' : `no split (${event.data.reason})`}`;
    case 'human_required':
      return `${event.data.address}: waits for a human (${event.data.raw_halt_type})${because(event.data.detail)}`;
    case 'task_completed':
      return `${event.data.address}: completed, ${event.data.outcome}`;
    case 'task_blocked':
      return blockedLine(event.data);
    case 'deadline_passed':
      return `the time is up (${event.data.deadline_at})`;
    case 'dead_lettered':
      return `${event.data.reader} gave a message up${because(event.data.reason)}`;
    case 'dead_letter_replayed':
      return `${event.data.reader} is offered ${event.data.event_type} once more`;
    case 'dead_letter_discarded':
      return `${event.data.reader} goes on without ${event.data.event_type}${because(event.data.reason)}`;
    default:
      return epicLine(event) ?? humanLine(event);
  }
};

const PURPOSE: Readonly<Record<EventNamed<'node_ready'>['data']['purpose'], string>> = {
  first: 'its first run',
  next_node: 'its first run',
  again: 'another attempt',
  after_fix: 'after a fix',
  after_fault: 'after a fault',
  check_again: 'the check again',
  escalated: 'whether it is met already',
  auto_agent: 'by an agent',
  met_meanwhile: 'the check again: it may hold by now',
  regate: 'asking again for permission',
  recompose: 'the children are done, their work is put together',
  landing: 'landing what is verified',
  decided: 'as a human decided',
};

const toolLine = (data: EventNamed<'tool_called'>['data']): string => {
  const exit = data.exit_code === null ? (data.signal ?? '') : `exit ${data.exit_code}`;
  const how = [data.outcome, exit, data.rule === null ? '' : `rule ${data.rule}`].filter((part) => part !== '');
  return `${at(data)} ${data.rung}/${data.tool}: ${how.join(', ')}: ${oneLine(data.command, COMMAND)}`;
};

const judgedLine = (data: EventNamed<'post_validated'>['data']): string => {
  const objecting = data.verdicts.filter(({ severity, error }) => severity !== 'pass' || error);
  const who = objecting
    .map(({ validator, severity, error }) => `${validator} ${error ? 'error' : severity}`)
    .join(', ');
  return `${at(data)} ${data.node_id}: judged ${data.outcome}${who === '' ? '' : ` (${who})`}`;
};

const blockedLine = ({
  address,
  raw_halt_type: cause,
  verdicts,
  detail,
}: EventNamed<'task_blocked'>['data']): string => {
  const [first] = verdicts.filter(({ severity, error }) => severity === 'blocker' || error);
  const why = first === undefined ? detail : `${first.validator}: ${first.justification}`;
  return `${address}: blocked (${cause})${because(why)}`;
};

const countedLine = (data: EventNamed<'run_counted'>['data']): string => {
  const { execute, judge, indeterminate } = data.counters;
  const attempt =
    data.outcome === 'indeterminate' ? `check that could not run: ${indeterminate}` : `attempts: ${execute + judge}`;
  const wait = data.next_at === null ? '' : `; waits until ${data.next_at}`;
  return `${at(data)} ${data.node_id}: ${data.judged ?? data.outcome}; ${attempt}${wait}`;
};

const faultLine = (data: EventNamed<'fault_recorded'>['data']): string =>
  `${at(data)} waits until ${data.next_at}: fault ${data.class} in the ${data.phase}, ${data.count} so far${because(data.detail)}`;
