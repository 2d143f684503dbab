import type { RecordedEvent } from '@fixpoint/contracts/envelope';

const LONGEST = 60;
const SHOWN = [
  'run',
  'request',
  'run_kind',
  'purpose',
  'outcome',
  'class',
  'reason',
  'raw_halt_type',
  'count',
  'epic',
] as const;

const fieldsOf = (data: unknown): string => {
  if (typeof data !== 'object' || data === null) return '';
  const known = data as Readonly<Record<string, unknown>>;
  const shown = SHOWN.filter((key) => typeof known[key] === 'string' || typeof known[key] === 'number');
  return shown.map((key) => `${key}=${String(known[key]).slice(0, LONGEST)}`).join(' ');
};

const addressOf = (data: unknown): string =>
  typeof data === 'object' && data !== null && 'address' in data ? String(data.address) : '';

/** One line for each event: when, in which lineage, which task, what. */
export const historyLines = (events: readonly RecordedEvent[]): readonly string[] => {
  const roots = [...new Set(events.map(({ root }) => root))];
  return events.map(({ occurred_at: at, root, type, data }) =>
    [at.slice(8, 19).replace('T', ' '), `#${roots.indexOf(root) + 1}`, addressOf(data), type, fieldsOf(data)].join(' '),
  );
};
