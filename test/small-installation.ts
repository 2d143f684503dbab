import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TaskSpec } from '@fixpoint/contracts/documents/task';
import type { EventNamed, EventType } from '@fixpoint/contracts/events/catalogue';
import { parseEvent } from '@fixpoint/contracts/events/parse-event';
import { type Submitted, submittedSchema } from '@fixpoint/contracts/rest/tasks';
import { lineageStream } from '@fixpoint/contracts/streams';
import { protocolCatalog } from '@fixpoint/documents/protocol-catalog';
import { taskSpecHash } from '@fixpoint/documents/spec-hash';
import { memoryArtifacts } from '@fixpoint/event-store/memory-artifacts';
import { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import { executorModule } from '@fixpoint/executor/executor.module';
import type { Bus } from '@fixpoint/messaging/bus';
import { memoryBus } from '@fixpoint/messaging/memory-bus';
import { publicationsOf } from '@fixpoint/messaging/publisher';
import type { AgentModel } from '@fixpoint/models/agent/agent-model';
import { lineagesOf } from '@fixpoint/orchestrator/lineages';
import { DEFAULT_MOST_IN_FLIGHT, orchestratorModule } from '@fixpoint/orchestrator/orchestrator.module';
import { infrastructureModule } from '@fixpoint/runtime/infrastructure';
import { silentLog } from '@fixpoint/runtime/log';
import { type Running, start } from '@fixpoint/runtime/start';
import { systemClock } from '@fixpoint/runtime/system-clock';
import { systemIds } from '@fixpoint/runtime/system-ids';
import { generateSigningKeys, publicKeysOf } from '@fixpoint/validator/token-keys';
import { validatorModule } from '@fixpoint/validator/validator.module';

const freePort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
};

interface Place {
  readonly folder: string;
  readonly port: number;
  readonly infrastructure: ReturnType<typeof infrastructureModule>;
  readonly agent: AgentModel | null;
}

const startAt = ({ folder, port, infrastructure, agent }: Place): Promise<Running> => {
  const signingKeys = generateSigningKeys('test');
  const tokenKeys = publicKeysOf(signingKeys);
  const limits = { concurrency: 8, longConcurrency: 2, mirrorIdleMs: 24 * 3_600_000, mirrorMaxBytes: 0 };
  const work = { ...limits, path: process.env.PATH ?? '', sandbox: 'none' as const, readable: [] };
  const models = { known: ['default'], agents: agent === null ? [] : ['default'] };
  const told = { playbooks: [], apiUrl: `http://127.0.0.1:${port}`, agents: () => agent };
  return start(
    [
      orchestratorModule(infrastructure, { mostInFlight: DEFAULT_MOST_IN_FLIGHT, tokenKeys, models }),
      validatorModule(infrastructure, { ...work, signingKeys, folder: join(folder, 'validator') }),
      executorModule(infrastructure, { ...work, ...told, tokenKeys, folder: join(folder, 'executor') }),
    ],
    { http: { host: '127.0.0.1', port, apiKeys: [] }, log: silentLog, drainMs: 1_000 },
  );
};

/** What no document can ask for in this version, submitted past the API. */
const submitSpec = async (store: MemoryEventStore, bus: Pick<Bus, 'publish'>, spec: TaskSpec): Promise<string> => {
  const catalog = protocolCatalog((stream) => store.readStream(stream));
  const lineages = lineagesOf({ store, catalog, clock: systemClock });
  const [root, { ref }] = [systemIds.uuid(), await catalog.current(spec.project)];
  const now = systemClock.now().toISOString();
  const mode = await catalog.modeOf({ project: spec.project, mode: spec.mode }, ref);
  const specHash = taskSpecHash(spec);
  const submitted = { type: 'submit_task', root, spec, specHash, protocol: ref, idempotencyKey: null } as const;
  const command = { ...submitted, now, mode, askCondition: () => ({ holds: true }) };
  const cause = { id: root, time: now, actor: 'test', correlation_id: root };
  const [outcome] = await lineages.decide('test', [{ root, command, cause }]);
  if (outcome?.outcome !== 'decided') throw new Error(JSON.stringify(outcome));
  await bus.publish(publicationsOf(outcome.events, null));
  return root;
};

const submit = async (url: string, document: object): Promise<Submitted> => {
  const sent = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const response = await fetch(`${url}/v1/tasks`, { ...sent, body: JSON.stringify({ document }) });
  return submittedSchema.parse(await response.json());
};

/** Orchestrator, validator and executor in this process, on memory, with the write API, real tokens and real commands. */
export const smallInstallation = async ({ agent = null }: { readonly agent?: AgentModel | null } = {}) => {
  const folder = mkdtempSync(join(tmpdir(), 'installation-'));
  const [store, artifacts, port] = [new MemoryEventStore(), memoryArtifacts(), await freePort()];
  const bus = memoryBus({ clock: systemClock, report: () => undefined });
  const infrastructure = infrastructureModule({
    ...{ store, artifacts, bus, clock: systemClock, ids: systemIds, pool: null, log: silentLog },
    release: () => Promise.resolve(),
  });
  const running = await startAt({ folder, port, infrastructure, agent });
  return {
    store,
    artifacts,
    submit: (document: object) => submit(`http://127.0.0.1:${port}`, document),
    submitSpec: (spec: TaskSpec) => submitSpec(store, bus, spec),
    /** Waits until the lineage holds such an event. */
    until: async (root: string, ends: (event: EventNamed<EventType>) => boolean) => {
      for (;;) {
        const events = (await store.readStream(lineageStream(root))).map((event) => parseEvent(event));
        if (events.some(ends)) return events;
        await systemClock.sleep(25);
      }
    },
    close: async () => {
      await running.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
