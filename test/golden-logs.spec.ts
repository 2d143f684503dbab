import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { canonicalJson } from '@fixpoint/contracts/canonical-json';
import { parseEvent } from '@fixpoint/contracts/events/parse-event';
import { eventHash } from '@fixpoint/event-store/hash';
import { describe, expect, test } from '@jest/globals';
import {
  type Folded,
  foldedLog,
  goldenEvents,
  onlyWhatWasThere,
  recordedEvents,
  withoutCursors,
} from './folded-log.ts';

const folder = new URL('./golden/', import.meta.url);
const releases = readdirSync(folder).flatMap((file) => /^(.+)\.jsonl$/.exec(file)?.[1] ?? []);

/** What the release itself made of its log, written when the log was recorded. */
interface Made {
  readonly sha256: string;
  readonly folded: Folded;
}

const sha256 = (folded: Folded): string => hash('sha256', canonicalJson(folded));

const madeBy = (release: string, folded: Folded): Made => {
  const file = new URL(`${release}.folded.json`, folder);
  if (process.env.FIXPOINT_WRITE_GOLDEN === '1' && !existsSync(file)) {
    writeFileSync(file, `${JSON.stringify({ sha256: sha256(folded), folded }, null, 1)}\n`);
  }
  return JSON.parse(readFileSync(file, 'utf8'));
};

test('there is a log of a release', () => {
  expect(releases.length).toBeGreaterThan(0);
});

describe.each(releases)('the log of release %s', (release) => {
  const log = goldenEvents(readFileSync(new URL(`${release}.jsonl`, folder), 'utf8'));
  const events = recordedEvents(log);

  test('has the bytes that were stored', () => {
    for (const { schema_version: schemaVersion, occurred_at: occurredAt, hash: stored, ...event } of log) {
      expect(eventHash({ ...event, schemaVersion, occurredAt }).toString('hex')).toBe(stored);
    }
  });

  test('is readable, every event of it', () => {
    for (const event of events) expect(parseEvent(event).type).toBe(event.type);
  });

  test('folds to the state, the rows and the waits that its own release made of it', () => {
    const folded = foldedLog(events);
    const made = madeBy(release, folded);
    expect(sha256(made.folded)).toBe(made.sha256);
    const then = withoutCursors(made.folded);
    expect(onlyWhatWasThere(withoutCursors(folded), then)).toEqual(then);
  });
});

describe('what an earlier release did not know', () => {
  test.each([
    ['a field', { a: 1, b: 2 }, { a: 1 }, { a: 1 }],
    ['a field of an item', [{ a: 1, b: 2 }, { a: 3 }], [{ a: 1 }, { a: 3 }], [{ a: 1 }, { a: 3 }]],
    ['a whole table', { rows: {}, letters: { x: 1 } }, { rows: {} }, { rows: {} }],
  ])('%s is left out of the comparison', (_, now, then, left) => {
    expect(onlyWhatWasThere(now, then)).toEqual(left);
  });

  test.each([
    ['another value', { a: 2 }, { a: 1 }],
    ['a field that is gone', { b: 1 }, { a: 1 }],
    ['an item more', { list: [1, 2] }, { list: [1] }],
    ['an item less', { list: [] }, { list: [1] }],
  ])('%s is not', (_, now, then) => {
    expect(onlyWhatWasThere(now, then)).not.toEqual(then);
  });
});
