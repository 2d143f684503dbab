import { expect, jest, test } from '@jest/globals';
import { simulate } from '../simulate.ts';

// Less than a second; a busy machine needs longer.
jest.setTimeout(60_000);

/** What was broken once: a handoff that did not say what is wrong: the check of what a human resolved was silent */
test('what a human resolved and is not done is handed over in words', async () => {
  const only = [
    'document t0.nodes',
    'document t0.node1',
    'document t0.signed',
    'document t0.recover_on',
    'lost node_verified_action action-31f2ddad-fe7c-8e7e-af6b-5efdb2fed780-3@2',
    'late node_verified_action action-31f2ddad-fe7c-8e7e-af6b-5efdb2fed780-3@2 (2)',
    'council direction 31f2ddad-fe7c-8e7e-af6b-5efdb2fed780 (1)',
    'decided 31f2ddad-fe7c-8e7e-af6b-5efdb2fed780.h1 minute 25',
    'wish 31f2ddad-fe7c-8e7e-af6b-5efdb2fed780.h1 minute 25',
  ];
  expect((await simulate(1091, new Set(only))).broken).toEqual([]);
});
