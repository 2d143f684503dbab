import { CURSOR_START, type Cursor, compareCursors } from '@fixpoint/contracts/envelope';
import { cursorToken, parseCursorToken } from '@fixpoint/contracts/rest/cursor-token';
import { displayText } from '@fixpoint/event-store/display-text';
import type { AuditedEvent } from './audited-event.ts';

/** Every row knows the newest event that it shows. */
export interface CursorRow {
  /** Token of the store's cursor. */
  readonly cursor: string;
}

/** The pure half of a projection: which rows an event concerns, and what it makes of each. */
export interface RowRules<Row extends CursorRow> {
  /** Keys of the rows that the event may change; empty for an event that means nothing here. */
  keysOf(audited: AuditedEvent): readonly string[];
  /** @param row undefined before the first event about it; returning undefined leaves it so. */
  evolve(row: Row | undefined, audited: AuditedEvent, key: string): Row | undefined;
}

/** Every key that a page of events may touch, once. */
export const touchedKeys = <Row extends CursorRow>(rules: RowRules<Row>, events: readonly AuditedEvent[]): string[] => [
  ...new Set(events.flatMap((event) => rules.keysOf(event))),
];

/**
 * Applies events in the order of the store. An event that a row shows already changes nothing, so a history fed twice
 * gives the rows of a history fed once, counters included.
 * @param rows by key, as stored; left as it is.
 * @returns the rows that changed.
 */
export const foldRows = <Row extends CursorRow>(
  rules: RowRules<Row>,
  rows: ReadonlyMap<string, Row>,
  events: readonly AuditedEvent[],
): Map<string, Row> => {
  const changed = new Map<string, Changed<Row>>();
  const apply = (audited: AuditedEvent, key: string): void => {
    const { cursor } = audited.event;
    const before = changed.get(key) ?? stored(rows.get(key));
    if (before !== undefined && compareCursors(before.cursor, cursor) >= 0) return;
    const row = rules.evolve(before?.row, audited, key);
    if (row) changed.set(key, { row, cursor });
  };
  for (const event of events) for (const key of rules.keysOf(event)) apply(event, key);
  return new Map([...changed].map(([key, { row, cursor }]) => [key, { ...row, cursor: cursorToken(cursor) }]));
};

/** A row and the newest event that it shows. */
interface Changed<Row> {
  readonly row: Row;
  readonly cursor: Cursor;
}

const stored = <Row extends CursorRow>(row: Row | undefined): Changed<Row> | undefined =>
  row && { row, cursor: parseCursorToken(row.cursor) ?? CURSOR_START };

/** Rows as JSON that Postgres takes into text and json columns: NUL and lone surrogates are shown by other characters. */
export const rowsJson = (rows: Iterable<object>): string => {
  const all = [...rows];
  const text = JSON.stringify(all);
  // JSON escapes what has to be shown otherwise, so a text without such escapes has nothing of it.
  if (!NEEDS_DISPLAY.test(text)) return text;
  return JSON.stringify(all, (_key, value: unknown) => (typeof value === 'string' ? displayText(value) : value));
};

const NEEDS_DISPLAY = /\\u(?:0000|d[89a-f])/;

/** A text of a bounded length, cut between characters and marked where cut. */
export const excerpt = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length).replace(/[\ud800-\udbff]$/, '')}…`;
