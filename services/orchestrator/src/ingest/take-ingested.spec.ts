import { sha256 } from '@fixpoint/contracts/content-hash';
import { CURSOR_START } from '@fixpoint/contracts/envelope';
import { memoryArtifacts } from '@fixpoint/event-store/memory-artifacts';
import { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import type { HandleIngested, Ingest, IngestMessage, IngestVerdict } from '@fixpoint/messaging/ingest';
import { memoryBus } from '@fixpoint/messaging/memory-bus';
import { infrastructureModule } from '@fixpoint/runtime/infrastructure';
import { silentLog } from '@fixpoint/runtime/log';
import { type Running, start } from '@fixpoint/runtime/start';
import { systemClock } from '@fixpoint/runtime/system-clock';
import { systemIds } from '@fixpoint/runtime/system-ids';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { orchestratorModule } from '../orchestrator.module.ts';

/** A broker in this process: the orchestrator takes what is given to it. */
class GivenIngest implements Ingest {
  readonly #given: {
    message: IngestMessage;
    answer: (verdict: IngestVerdict) => void;
    fail: (error: unknown) => void;
  }[] = [];
  #wake: () => void = () => undefined;

  give(message: IngestMessage): Promise<IngestVerdict> {
    return new Promise((answer, fail) => {
      this.#given.push({ message, answer, fail });
      this.#wake();
    });
  }

  async take(handle: HandleIngested, signal: AbortSignal): Promise<void> {
    if (this.#given.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    for (const { message, answer, fail } of this.#given.splice(0)) await handle(message).then(answer, fail);
  }
}

const ESCALATION = { what: 'It counts', stage: 'review', diagnosis: 'red for a day' };
const TASK = {
  ...{ kind: 'task/v1', name: 'count', project: 'shop', mode: 'build', goal: 'It counts' },
  ...{ recipe: { command: 'make' }, postcondition: { command: 'test -f it' } },
};
const ATTRIBUTES = { specversion: '1.0', id: '1', source: '/ci', type: 'fixpoint.escalation' };
const BINARY = Object.fromEntries(Object.entries(ATTRIBUTES).map(([name, value]) => [`ce-${name}`, value]));
const KEYS = [
  { name: 'ci', role: 'writer', sha256: sha256('secret') },
  { name: 'eye', role: 'reader', sha256: sha256('look') },
] as const;

let running: Running | null = null;
let store = new MemoryEventStore();
let ingest = new GivenIngest();

const serve = async (apiKeys: readonly (typeof KEYS)[number][] = []) => {
  store = new MemoryEventStore();
  ingest = new GivenIngest();
  const infrastructure = infrastructureModule({
    ...{ store, clock: systemClock, ids: systemIds, pool: null, log: silentLog, ingest },
    bus: memoryBus({ clock: systemClock, report: () => undefined }),
    artifacts: memoryArtifacts(),
    release: () => Promise.resolve(),
  });
  const http = { host: '127.0.0.1', port: 0, apiKeys };
  const module = orchestratorModule(infrastructure, { mostInFlight: 100, apiKeys });
  running = await start([module], { http, log: silentLog, drainMs: 1_000 });
};
beforeEach(() => serve());
afterEach(async () => {
  await running?.close();
  running = null;
});

let sequence = 0;
const give = (body: unknown, headers: Readonly<Record<string, string>> = {}, project = 'shop') => {
  sequence += 1;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return ingest.give({ project, headers, body: text, sequence, sentAt: '2026-01-01T00:00:00.000Z' });
};

const stored = async (type: string) =>
  (await store.readAll(CURSOR_START, 1_000)).events.filter((event) => event.type === type);

const reasons = async () => (await stored('dead_lettered')).map(({ data }) => (data as { reason: string }).reason);

describe('an event from the broker', () => {
  test.each([
    ['in structured mode', { ...ATTRIBUTES, data: { ...ESCALATION, task: TASK } }, {}],
    ['in binary mode', { ...ESCALATION, task: TASK }, BINARY],
  ])('%s becomes work, once, however often it comes', async (_, body, headers) => {
    expect(await give(body, headers)).toBe('done');
    expect(await give(body, headers)).toBe('done');
    expect(await stored('task_submitted')).toHaveLength(1);
    expect(await stored('dead_lettered')).toEqual([]);
  });

  test('belongs to the project of its subject', async () => {
    expect(await give(ESCALATION, BINARY, 'store')).toBe('done');
    expect((await stored('task_submitted'))[0]).toMatchObject({ data: { scope: { project: 'store' } } });
    await give({ ...ESCALATION, task: TASK }, { ...BINARY, 'ce-id': '2' }, 'store');
    await give({ ...ESCALATION, project: 'shop' }, { ...BINARY, 'ce-id': '3' }, 'store');
    expect(await stored('task_submitted')).toHaveLength(1);
    expect(await reasons()).toEqual([
      expect.stringMatching(/^project_mismatch/),
      expect.stringMatching(/^project_mismatch/),
    ]);
  });

  test.each([
    ['no JSON', 'it is red', BINARY, /^event_invalid/],
    ['no event', {}, {}, /^event_invalid: \/specversion/],
    ['an event of somebody else', { ...ATTRIBUTES, type: 'other', data: {} }, {}, /^event_invalid: \/type/],
    ['an attribute that nobody can decode', ESCALATION, { ...BINARY, 'ce-id': '%E2' }, /^event_invalid: ce-id/],
    ['a task that is none', { ...ESCALATION, task: { kind: 'task/v1' } }, BINARY, /^document_invalid/],
  ])('that is %s is a dead letter, once, which says why', async (_, body, headers, reason) => {
    expect(await give(body, headers)).toBe('done');
    expect(await reasons()).toEqual([expect.stringMatching(reason)]);
    const [letter] = await stored('dead_lettered');
    expect(letter).toMatchObject({ data: { reader: 'orchestrator__ingest', event_type: 'ingested', root: null } });
    sequence -= 1;
    await give(body, headers);
    expect(await reasons()).toHaveLength(1);
  });
});

describe('where keys are asked for', () => {
  beforeEach(async () => {
    await running?.close();
    await serve(KEYS);
  });

  test('an event with a key is of its owner', async () => {
    await give(ESCALATION, { ...BINARY, authorization: 'Bearer secret' });
    expect((await stored('task_submitted'))[0]).toMatchObject({ metadata: { actor: 'ci' } });
  });

  test.each([
    [{}, /^unauthenticated/],
    [{ authorization: 'Bearer other' }, /^unauthenticated/],
    [{ authorization: 'Bearer look' }, /^role_insufficient/],
  ])('an event with %j is a dead letter', async (headers, reason) => {
    await give(ESCALATION, { ...BINARY, ...headers });
    expect(await reasons()).toEqual([expect.stringMatching(reason)]);
    expect(await stored('task_submitted')).toEqual([]);
  });
});
