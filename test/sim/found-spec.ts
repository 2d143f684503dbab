import type { Simulated } from './simulate.ts';

/** As the spec imports it. */
const SIMULATE = "'../simulate.ts'";

/** A spec that plays a small failing world again. */
export const foundSpec = (
  name: string,
  { seed, taken, broken }: Simulated,
): string => `import { expect, jest, test } from '@jest/globals';
import { simulate } from ${SIMULATE};

// Less than a second; a busy machine needs longer.
jest.setTimeout(60_000);

/** What was broken once: ${(broken[0] ?? '').replaceAll('*/', '* /')} */
test('${name.replaceAll('-', ' ')}', async () => {
  const only = [
${taken.map((key) => `    ${JSON.stringify(key)},`).join('\n')}
  ];
  expect((await simulate(${seed}, new Set(only))).broken).toEqual([]);
});
`;
