import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { Projection } from '@fixpoint/event-store/projection';
import { READ_MODEL } from '../reading/freshness.ts';
import { audited } from './audited-event.ts';
import { deadLetterTable } from './dead-letters.ts';
import { epicTable } from './epics.ts';
import { applyEvents } from './events.ts';
import { handoffTable } from './handoffs.ts';
import { lineageTable } from './lineages.ts';
import { applyProtocols } from './protocols.ts';
import { providerTable } from './providers.ts';
import { applyToTable, type RowTarget } from './row-table.ts';
import { runTable } from './runs.ts';
import { taskTable } from './tasks.ts';

/** Applies a page of the log to every table of the read model, in the caller's transaction. */
export const applyToReadModel = async (target: RowTarget, page: readonly RecordedEvent[]): Promise<void> => {
  const events = page.map(audited);
  await applyProtocols(target, events);
  await applyToTable(target, lineageTable, events);
  await applyToTable(target, taskTable, events);
  await applyToTable(target, runTable, events);
  await applyToTable(target, epicTable, events);
  await applyToTable(target, handoffTable, events);
  await applyToTable(target, deadLetterTable, events);
  await applyToTable(target, providerTable, events);
  await applyEvents(target, events);
};

/** Everything that the read API shows. */
export const readModel: Projection<unknown> = {
  name: READ_MODEL,
  schema: 'audit',
  tables: [
    { name: 'lineage', key: lineageTable.key },
    { name: 'task', key: taskTable.key },
    { name: 'run', key: runTable.key },
    { name: 'epic', key: epicTable.key },
    { name: 'handoff', key: handoffTable.key },
    { name: 'dead_letter', key: deadLetterTable.key },
    { name: 'provider', key: providerTable.key },
    { name: 'event', key: ['epoch', 'xid', 'position'] },
    // The built-in protocol has no event: its row comes with the table.
    { name: 'protocol_mode', key: ['project', 'name', 'version', 'mode'], given: `project = ''` },
  ],
  prepare: (events) => {
    // Parsed once for each event object.
    for (const event of events) audited(event);
  },
  apply: ({ transaction, schema }, events) => applyToReadModel({ db: transaction, schema }, events),
};
