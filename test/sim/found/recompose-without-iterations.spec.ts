import { expect, jest, test } from '@jest/globals';
import { simulate } from '../simulate.ts';

// Less than a second; a busy machine needs longer.
jest.setTimeout(60_000);

/** What was broken once: iterations of a unit went beyond their bound in its recompose */
test('a unit whose iterations are used up is not put together beyond them', async () => {
  const only = [
    'tasks more',
    'document t0.signed',
    'document t1.size',
    'document t1.agent',
    'document t1.t1-b.work',
    'workspace_fault capture (4)',
    'workspace_fault materialise (10)',
    'late node_ready lineage-f03896bd-da8d-8df0-a2fd-5cdcb1c388a6@17',
    'council direction f03896bd-da8d-8df0-a2fd-5cdcb1c388a6.2 (1)',
    'council direction f03896bd-da8d-8df0-a2fd-5cdcb1c388a6.2 (2)',
    'council direction f03896bd-da8d-8df0-a2fd-5cdcb1c388a6.2 (3)',
    'council direction f03896bd-da8d-8df0-a2fd-5cdcb1c388a6.2 (4)',
    'decided f03896bd-da8d-8df0-a2fd-5cdcb1c388a6.2.h1 minute 4',
    'council direction f03896bd-da8d-8df0-a2fd-5cdcb1c388a6.2 (6)',
    'council direction f03896bd-da8d-8df0-a2fd-5cdcb1c388a6.2 (7)',
    'council direction f03896bd-da8d-8df0-a2fd-5cdcb1c388a6.2 (8)',
  ];
  expect((await simulate(380, new Set(only))).broken).toEqual([]);
});
