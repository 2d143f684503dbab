import { sql } from 'kysely';
import type { AuditedEvent } from './audited-event.ts';
import { rowsJson } from './fold-rows.ts';
import type { RowTarget } from './row-table.ts';

/** A row of `audit.protocol_mode`: the bounds that a lineage's use is measured against. */
export interface ProtocolModeRow {
  /** Empty for the built-in protocol. */
  readonly project: string;
  readonly version: number;
  readonly mode: string;
  readonly name: string;
  readonly max_recovery_depth: number;
  readonly max_total_fix_attempts: number;
  readonly max_total_decomposition_children: number;
}

/** One row per mode of a published protocol; versions are immutable, so a row never changes. */
export const protocolModeRows = ({ fact }: AuditedEvent): readonly ProtocolModeRow[] => {
  if (fact?.type !== 'protocol_published') return [];
  const { project, name, protocol_version: version, spec } = fact.data;
  return Object.entries(spec.modes).map(([mode, { bounds }]) => ({
    project,
    version,
    mode,
    name,
    max_recovery_depth: bounds.max_recovery_depth,
    max_total_fix_attempts: bounds.max_total_fix_attempts,
    max_total_decomposition_children: bounds.max_total_decomposition_children,
  }));
};

export const applyProtocols = async ({ db, schema }: RowTarget, events: readonly AuditedEvent[]): Promise<void> => {
  const rows = events.flatMap(protocolModeRows);
  if (rows.length === 0) return;
  const table = sql.table(`${schema}.protocol_mode`);
  await sql`
    insert into ${table} select * from json_populate_recordset(null::${table}, ${rowsJson(rows)}::json)
    on conflict do nothing`.execute(db);
};
