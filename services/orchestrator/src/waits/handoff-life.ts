import { handoffNumber } from '@fixpoint/contracts/addresses';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { type Change, type Fields, timer, without, withTimer } from './timer-rows.ts';
import type { LineageWaits, TimerRow } from './wait-rows.ts';

/** One time can ring once: a moved end is another timer, so that nobody who rang the old one removes it. */
const ofHandoff = (event: RecordedEvent, fields: Fields, [kind, at]: readonly ['warning' | 'expiry', string]) => {
  const { task, handoff } = fields;
  return timer(event, at, { id: `${handoff}:${kind}:${at}`, kind, task, number: handoffNumber(handoff) });
};

const withoutLife = (waits: LineageWaits, task: string, kinds: readonly TimerRow['kind'][]): LineageWaits => ({
  ...waits,
  timers: without(
    waits.timers,
    Object.values(waits.timers)
      .filter((row) => row.task === task && kinds.includes(row.kind))
      .map((row) => row.id),
  ),
});

/** When the end of a handoff comes, and when somebody is warned of it; an end that nobody is warned of is no warning. */
export const lifeBegins = (change: Change): LineageWaits => {
  const { event, fields } = change;
  const { warn_at, expires_at } = fields;
  return withLife(endMoves(change), { event, fields }, ['warning', warn_at === expires_at ? null : warn_at]);
};

const withLife = (
  waits: LineageWaits,
  { event, fields }: Omit<Change, 'waits'>,
  [kind, at]: readonly ['warning' | 'expiry', string | null],
): LineageWaits => {
  const rest = withoutLife(waits, fields.task, [kind]);
  return at === null ? rest : withTimer(rest, ofHandoff(event, fields, [kind, at]));
};

export const endMoves = ({ waits, event, fields }: Change): LineageWaits =>
  withLife(waits, { event, fields }, ['expiry', fields.expires_at]);

export const warned = (change: Change): LineageWaits => {
  const { event, fields } = change;
  const { next_at, expires_at } = fields;
  return withLife(endMoves(change), { event, fields }, ['warning', next_at === expires_at ? null : next_at]);
};

export const lifeEnds = ({ waits, fields }: Change): LineageWaits =>
  withoutLife(waits, fields.task, ['warning', 'expiry']);
