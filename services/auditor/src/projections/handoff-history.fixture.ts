import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import { humanRequired } from './history.fixture.ts';

export const expired = (root: string, outcome: 'keep' | 'retry' = 'retry'): EventNamed<'handoff_expired'> => ({
  type: 'handoff_expired',
  data: {
    ...{ root, task: root, address: '0', handoff: `${root}-h1`, outcome, declared: outcome, reason: 'nobody decided' },
    ...{ node_index: null, ended_tasks: outcome === 'retry' ? [`${root}.f1`] : [] },
    granted: { execute: 0, judge: 0, iterations: 0, indeterminate: 0 },
  },
});

export const HANDOFF = 'r1.h1';

type Data<Type extends 'human_required' | 'handoff_updated'> = EventNamed<Type>['data'];

const about = { root: 'r1', task: 'r1', address: '0', handoff: HANDOFF } as const;

export const asked = (more: Partial<Data<'human_required'>> = {}): EventNamed<'human_required'> => {
  const { type, data } = humanRequired('r1');
  return { type, data: { ...data, ...about, decisions: ['retry', 'abandon'], ...more } };
};

export const secondCause = (version = 2): EventNamed<'handoff_updated'> => ({
  type: 'handoff_updated',
  data: {
    ...{ ...about, version, stage: 'budget', help: 'budget', halt_type: 'budget', raw_halt_type: 'deadline' },
    ...{ detail: 'no time left', run_open: false, decisions: ['extend'] },
  },
});

export const causeEnded = (detail: string): EventNamed<'handoff_cause_ended'> => ({
  type: 'handoff_cause_ended',
  data: { ...about, raw_halt_type: 'max_recovery_depth', detail, reason: 'dead_letter_replayed' },
});

export const claimed = (until: string): EventNamed<'handoff_claimed'> => ({
  type: 'handoff_claimed',
  data: { ...about, version: 2, by: 'ada', until, expires_at: until },
});

export const warned = (share: number, at: string): EventNamed<'handoff_warned'> => ({
  type: 'handoff_warned',
  data: { ...about, share, expires_at: at, next_at: at },
});

export const decided = (): EventNamed<'human_decided'> => ({
  type: 'human_decided',
  data: {
    ...{ ...about, handoff_version: 1, decision_id: 'd1', decision: { kind: 'retry', from_node: null } },
    ...{ nodes: null, node_index: 0, ended_tasks: [], comment: null, comment_artifact: null },
    granted: { execute: 1, judge: 1, iterations: 1, indeterminate: 1 },
    ...{ actor: 'ada', authenticated: 'api_key', decided_at: '2026-01-01T00:00:00.000Z', signature: 'a.b.c' },
  },
});

/** The same said of the root of another lineage. */
export const inLineage = <Type extends string>(
  root: string,
  { type, data }: { readonly type: Type; readonly data: object },
) => ({ type, data: { ...data, root, task: root, handoff: `${root}.h1` } });
