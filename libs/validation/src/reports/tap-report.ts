import { type FinalResults, Parser, type Result } from 'tap-parser';
import { z } from 'zod';
import { lineOf, type Objection, type ReportReading, testReading, unreadable } from './report-reading.ts';

/**
 * Reads TAP (versions 12 to 14). A test that is not ok counts unless it is to do or skipped; in a subtest it is the
 * innermost one that is named. A plan that is missing or not kept, and a bail-out, leave a gap.
 */
export const readTap = (text: string): ReportReading => {
  const state: { results?: FinalResults } = {};
  const parser = new Parser((results) => {
    state.results = results;
  });
  const gaps: string[] = [];
  const failed = failuresOf(parser, gaps);
  parser.end(text);
  const { results } = state;
  if (results === undefined) return unreadable('the TAP does not end');
  const { count, todo, skip: skipped } = results;
  return testReading({
    failed: failed.map(objectionOf),
    ...{ todo, skipped, ran: count - skipped, gap: gaps[0] ?? null },
  });
};

/** A failed test is no gap, whether it counts or not. */
const gapIn = ({ bailout, failures }: FinalResults): string | null => {
  if (bailout !== false) return `bailed out: ${bailout === true ? 'no reason' : bailout}`;
  const told = failures.map(({ tapError }) => tapError).find((error) => typeof error === 'string');
  return typeof told === 'string' ? `not whole: ${told}` : null;
};

/** Filled while the parser reads: the failed tests, innermost ones in place of the test that holds them; and gaps at any depth. */
const failuresOf = (parser: Parser, gaps: string[]): Result[] => {
  const failed: Result[] = [];
  let inner: Result[] = [];
  parser.on('child', (child: Parser) => {
    inner = failuresOf(child, gaps);
  });
  parser.on('assert', (test: Result) => {
    const below = test.closingTestPoint ? inner : [];
    inner = [];
    if (test.ok || test.todo !== false || test.skip !== false) return;
    if (below.length === 0) failed.push(test);
    for (const each of below) failed.push(each);
  });
  parser.on('complete', (results: FinalResults) => {
    const gap = gapIn(results);
    if (gap !== null) gaps.push(gap);
  });
  return failed;
};

const text = z.string().optional().catch(undefined);
const number = z.union([z.number(), z.string()]).optional().catch(undefined);
const position = { file: text, fileName: text, line: number, lineNumber: number };
/** What the usual runners say of a failure, beside much else. */
const diagnosis = z
  .object({
    ...{ message: text, error: text, location: text, ...position },
    at: z.object(position).optional().catch(undefined),
  })
  .catch({});

const objectionOf = ({ fullname, id, diag }: Result): Objection => {
  const said = diagnosis.parse(diag ?? {});
  // `FILE:LINE:COLUMN`, as Node's own runner has it.
  const [, file, line] = /^(.+?):(\d+)(?::\d+)?$/.exec(said.location ?? '') ?? [];
  const at = said.at ?? said;
  return {
    rule: 'not_ok',
    path: at.file ?? at.fileName ?? file ?? null,
    line: lineOf(at.line ?? at.lineNumber ?? line),
    criterion: fullname === '' ? `test ${id}` : fullname,
    message: said.message ?? said.error ?? '',
  };
};
