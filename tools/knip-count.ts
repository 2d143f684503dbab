import type { ReporterOptions } from 'knip';

/** A knip reporter that says only how many files knip looked at. */
export default ({ counters }: ReporterOptions): void => console.log(`processed ${counters.processed}`);
