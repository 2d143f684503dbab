import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { filesIn, type LandingPlace, landingPlace, lines } from './landing.fixture.ts';

jest.setTimeout(120_000);

const FILES = ['one', 'two', 'three'];
const LINES = 12;

const at = (file: string, line: number): string => `${file} ${line}`;
const before = Object.fromEntries(
  FILES.map((file) => [file, lines(...Array.from({ length: LINES }, (_, line) => at(file, line)))]),
);

/** Lines that a side changes, by file. Every fourth line stays as it is, so that two hunks never touch. */
type Edits = Readonly<Record<string, readonly number[]>>;
const edits = fc.record(
  Object.fromEntries(FILES.map((file) => [file, fc.uniqueArray(fc.constantFrom(1, 5, 9), { maxLength: 3 })])),
);

const changed = (side: string, mine: Edits) =>
  Object.fromEntries(
    FILES.map((file) => [
      file,
      lines(
        ...Array.from({ length: LINES }, (_, line) =>
          mine[file]?.includes(line) ? `${side} ${line}` : at(file, line),
        ),
      ),
    ]),
  );

/** What a merge is to be, line by line. */
const expected = (sides: { ours: Edits; theirs: Edits }, name: { ours: string; theirs: string }) =>
  Object.fromEntries(
    FILES.map((file) => [
      file,
      lines(
        ...Array.from({ length: LINES }, (_, line) => {
          if (sides.ours[file]?.includes(line)) return `${name.ours} ${line}`;
          return sides.theirs[file]?.includes(line) ? `${name.theirs} ${line}` : at(file, line);
        }),
      ),
    ]),
  );

let place: LandingPlace;
let base: WorkspaceRef;

beforeEach(async () => {
  place = landingPlace(before);
  base = await place.start();
});

afterEach(() => place.close());

test('no verified line drops out: ours stands wherever it was changed, theirs wherever ours was not', async () => {
  await fc.assert(
    fc.asyncProperty(edits, edits, fc.boolean(), async (left, right, isCommitted) => {
      const one = await place.committed(base, { ...changed('left', left), left: 'l\n' });
      const keep = isCommitted ? place.committed : place.uncommitted;
      const other = await keep(base, { ...changed('right', right), right: 'r\n' });
      const clashing = FILES.filter((file) => left[file]?.some((line) => right[file]?.includes(line))).sort();
      const forth = await place.merge(one, other, base);
      const back = await place.merge(other, one, base);
      expect([forth.conflicts, back.conflicts]).toEqual([clashing, clashing]);
      const added = { left: 'l\n', right: 'r\n' };
      const names = { ours: 'left', theirs: 'right' };
      expect(filesIn(await place.folderOf(forth.ref))).toEqual({
        ...expected({ ours: left, theirs: right }, names),
        ...added,
      });
      expect(filesIn(await place.folderOf(back.ref))).toEqual({
        ...expected({ ours: right, theirs: left }, { ours: 'right', theirs: 'left' }),
        ...added,
      });
      if (clashing.length === 0) expect(forth.ref.tree).toBe(back.ref.tree);
    }),
    { numRuns: 8 },
  );
});
