import type { EventNamed } from '@fixpoint/contracts/events/catalogue';

export const expired = (root: string, outcome: 'keep' | 'retry' = 'retry'): EventNamed<'handoff_expired'> => ({
  type: 'handoff_expired',
  data: {
    ...{ root, task: root, address: '0', handoff: `${root}-h1`, outcome, declared: outcome, reason: 'nobody decided' },
    ...{ node_index: null, ended_tasks: outcome === 'retry' ? [`${root}.f1`] : [] },
    granted: { execute: 0, judge: 0, iterations: 0, indeterminate: 0 },
  },
});
