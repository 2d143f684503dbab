/** One thing that a report objects to, as it stands there; paths may be absolute. */
export interface Objection {
  readonly rule: string;
  readonly path: string | null;
  readonly line: number | null;
  /** Name of the test, where a test failed. */
  readonly criterion: string | null;
  readonly message: string;
}

/** What a report says. One that says too little to judge by says nothing: it is never taken for a clean one. */
export type ReportReading =
  | {
      readonly outcome: 'read';
      /** Everything that counts. */
      readonly objections: readonly Objection[];
      /** Results that were found and do not count: below the level, to do. */
      readonly uncounted: number;
      /** What was looked at, in a few words. */
      readonly looked: string;
    }
  | { readonly outcome: 'unreadable'; readonly problem: string };

export const unreadable = (problem: string): ReportReading => ({ outcome: 'unreadable', problem });

interface TestRun {
  readonly failed: readonly Objection[];
  /** Failures that were expected. */
  readonly todo: number;
  readonly skipped: number;
  /** Tests that were run, failed ones with them. */
  readonly ran: number;
  /** Why the report says less than all tests would; null: it is whole. */
  readonly gap: string | null;
}

/** A failed test counts whatever else is missing; without one, all tests must have been told about and at least one been run. */
export const testReading = ({ failed, todo, skipped, ran, gap }: TestRun): ReportReading => {
  if (failed.length === 0 && gap !== null) return unreadable(gap);
  if (failed.length === 0 && ran === 0) return unreadable('no test was run');
  const looked = `${ran} tests run, ${skipped} skipped`;
  return { outcome: 'read', objections: failed, uncounted: todo, looked };
};

/** A number of a report as a line; null when it is none. */
export const lineOf = (value: unknown): number | null => {
  const line = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof line === 'number' && Number.isSafeInteger(line) && line > 0 ? line : null;
};
