import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import type { CapturedOutput } from '@fixpoint/contracts/events/executor-events';
import { parseEvent, UnreadableEvent } from '@fixpoint/contracts/events/parse-event';
import type { Run, VerdictSummary } from '@fixpoint/contracts/rest/audit';
import { oneLine } from './printable.ts';

const DETAIL = 300;
const JUSTIFICATION = 200;
/** Before each line of a text that somebody else wrote, so that none can pass for one of ours. */
const QUOTE = '| ';

/** Why a run went the way it went, a line each; empty for one that nobody objected to. */
export const reasonsOfRun = (run: Pick<Run, 'state' | 'outcome' | 'detail' | 'verdicts'>): string[] => {
  const objections = objectionLines(run.verdicts);
  const isBad = BAD.has(run.state) || BAD.has(run.outcome ?? '') || objections.length > 0;
  return isBad ? [...firstLines(run.detail), ...objections] : [];
};

const BAD: ReadonlySet<string> = new Set(['unmet', 'degraded', 'indeterminate', 'faulted', 'blocked', 'refused']);

/** The same of an event that passes by. */
export const reasonsOfEvent = (event: RecordedEvent): string[] => {
  try {
    const known = parseEvent(event);
    switch (known.type) {
      case 'tool_called':
        return toolLines(known.data);
      case 'node_verified_action':
        return BAD.has(known.data.outcome) ? firstLines(known.data.detail) : [];
      case 'governance_blocked':
      case 'governance_escalated':
      case 'post_validated':
        return objectionLines(known.data.verdicts);
      default:
        return [];
    }
  } catch (error) {
    if (error instanceof UnreadableEvent) return [];
    throw error;
  }
};

/** Every verdict that objects, as `validator: justification`. */
export const objectionLines = (verdicts: readonly VerdictSummary[]): string[] =>
  verdicts
    .filter(({ severity, error, justification }) => (severity !== 'pass' || error) && justification.trim() !== '')
    .map(({ validator, justification }) => `${validator}: ${oneLine(justification, JUSTIFICATION)}`);

/** The beginning of a text, quoted. */
export const firstLines = (text: string): string[] => {
  const whole = withoutBlankLines(text);
  return quoted(whole.length <= DETAIL ? whole : `${whole.slice(0, DETAIL - 1)}…`);
};

/** Its end: what a program says last is why it failed. */
const lastLines = (text: string): string[] => {
  const whole = withoutBlankLines(text);
  return quoted(whole.length <= DETAIL ? whole : `…${whole.slice(1 - DETAIL)}`);
};

const toolLines = ({ outcome, detail, stderr, stdout }: EventNamed<'tool_called'>['data']): string[] => {
  if (outcome === 'ok') return [];
  const printed = [stderr, stdout].map(endOf).find((text) => text.trim() !== '') ?? '';
  return [...firstLines(detail), ...lastLines(printed)];
};

/** The tail is what comes after the head: nothing, of an output that fits into the head. */
const endOf = (stream: CapturedOutput | null): string => {
  const { head, tail, truncated } = stream ?? NOTHING;
  if (head.endsWith(tail)) return head;
  return truncated ? tail : `${head}${tail}`;
};

const NOTHING = { head: '', tail: '', truncated: false };

const withoutBlankLines = (text: string): string =>
  text
    .split(/\r?\n/)
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .join('\n');

const quoted = (text: string): string[] => (text === '' ? [] : text.split('\n').map((line) => `${QUOTE}${line}`));
