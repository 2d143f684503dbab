import { readFileSync } from 'node:fs';
import { z } from 'zod';

const manifestSchema = z.object({ version: z.string() });

/** Of this package, as its manifest says. */
export const version = (): string =>
  manifestSchema.parse(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))).version;
