import { type Client, fixpointClient } from '@fixpoint/client/client';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import { memoryBus } from '@fixpoint/messaging/memory-bus';
import { infrastructureModule } from '@fixpoint/runtime/infrastructure';
import { silentLog } from '@fixpoint/runtime/log';
import { start } from '@fixpoint/runtime/start';
import { systemClock } from '@fixpoint/runtime/system-clock';
import { systemIds } from '@fixpoint/runtime/system-ids';
import { auditorModule } from '../auditor.module.ts';
import { type AuditDatabase, auditDatabase } from '../projections/audit-database.fixture.ts';

export interface AuditApp extends AuditDatabase {
  readonly url: string;
  readonly client: Client;
}

/** A whole auditor on a fresh database, on a port of its own; its artifacts are these texts by name. */
export const auditApp = async (artifacts: Readonly<Record<string, readonly string[]>> = {}): Promise<AuditApp> => {
  const audit = await auditDatabase();
  const infrastructure = infrastructureModule({
    store: audit.store,
    bus: memoryBus({ clock: systemClock, report: () => undefined }),
    artifacts: only(artifacts),
    clock: systemClock,
    ids: systemIds,
    pool: audit.pool,
    log: silentLog,
    release: () => audit.close(),
  });
  const http = { host: '127.0.0.1', port: 0, apiKeys: [] };
  const running = await start([auditorModule(infrastructure)], { http, log: silentLog, drainMs: 5_000 });
  if (running.url === null) throw new Error('the auditor has an API');
  const { url } = running;
  const client = fixpointClient({ writeUrl: url, auditUrl: url, apiKey: null });
  return { ...audit, url, client, close: () => running.close() };
};

const only = (texts: Readonly<Record<string, readonly string[]>>): Artifacts => ({
  put: () => Promise.reject(new Error('nothing is put here')),
  get: async (hash) => {
    const chunks = texts[hash];
    return chunks === undefined
      ? null
      : (async function* () {
          for (const chunk of chunks) yield Buffer.from(chunk);
        })();
  },
});
