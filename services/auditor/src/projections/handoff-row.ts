import type { Handoff } from '@fixpoint/contracts/rest/audit-handoffs';

/** A row of `audit.handoff`; its project is its lineage's, and whether it is claimed depends on the time. */
export type HandoffRow = Omit<Handoff, 'project' | 'claimed'>;
