import type { CouncilQuestion, CouncilRequest } from '@fixpoint/models/council-model';
import { nodeOf } from './domain/slices.fixture.ts';

export const requestOf = (more: Partial<CouncilRequest> = {}): CouncilRequest => ({
  ...{ root: 'r1', task: 'r1', address: '0', request: 1, scope: { project: 'p', mode: 'build' } },
  ...{ protocol: { name: 'default', version: 1, hash: 'h' }, intent: 'All is migrated', goal: 'All is migrated' },
  ...{ node: nodeOf(), nodes: [nodeOf()], inputs: {}, declared_parts: null, split_depth: 0, halt_type: 'unmet' },
  ...{ raw_halt_type: 'execute', stalled_run: 3, failures: [], hint: null },
  ...{ base_ref: null, workspace_ref: null, source: null },
  budget: { children_left: 8, depth_left: 2, time_ms: 60_000, money_micros: 1000, tokens: 1000 },
  ...more,
});

export const questionOf = (
  request: Partial<CouncilRequest> = {},
  more: Partial<CouncilQuestion> = {},
): CouncilQuestion => ({
  request: requestOf(request),
  ...{ changed: [], patch: null, findings: [], detail: '', documents: [], objections: [] },
  ...more,
});
