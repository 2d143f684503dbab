import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '@fixpoint/contracts/clock';
import type { ModeSpec } from '@fixpoint/contracts/documents/protocol';
import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { definitionOf } from '@fixpoint/contracts/events/catalogue';
import { actionStream, lineageStream } from '@fixpoint/contracts/streams';
import { builtInMode } from '@fixpoint/documents/built-in-protocol';
import { memoryArtifacts } from '@fixpoint/event-store/memory-artifacts';
import { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import { hostGit } from '@fixpoint/execution/git';
import { gitWorkspaces } from '@fixpoint/execution/git-workspaces';
import { hostRunner } from '@fixpoint/execution/process-runner';
import type { SandboxPolicy } from '@fixpoint/execution/sandbox/confinement';
import { noSandbox } from '@fixpoint/execution/sandbox/no-sandbox';
import type { Sandbox } from '@fixpoint/execution/sandbox/sandbox';
import type { Publication, Verdict } from '@fixpoint/messaging/bus';
import { memoryLeases } from '@fixpoint/messaging/memory-leases';
import { ownedWork } from '@fixpoint/messaging/owned-work';
import { hasEnded } from '@fixpoint/messaging/run-lookup';
import type { AgentModel } from '@fixpoint/models/agent/agent-model';
import type { Models } from '@fixpoint/models/configured-models';
import { loadPlaybook } from '@fixpoint/models/playbook/load-playbook';
import { playbookModel } from '@fixpoint/models/playbook/playbook';
import { systemClock } from '@fixpoint/runtime/system-clock';
import { memoryJobs } from './jobs/memory-jobs.ts';
import { primitiveCalls } from './ladder/primitive-calls.ts';
import type { NodeReady } from './run/assignment.ts';
import { keepingFolder } from './run/run-folder.ts';
import { type RunReaderDeps, runReader } from './run-reader.ts';
import type { TokenVerdict } from './token-check.ts';

const AT = '2026-01-01T00:00:00.000Z';
const HASH = 'a'.repeat(64);

const UNSANDBOXED: SandboxPolicy = { requirement: 'none', support: { works: false, detail: '' }, readable: [] };

/** One executor on memory adapters with real processes and real git. */
export const executorWorld = (
  changes: {
    clock?: Clock;
    mode?: Partial<ModeSpec>;
    agent?: AgentModel;
    models?: Models;
    sandbox?: { policy: SandboxPolicy; sandbox: Sandbox };
  } = {},
) => {
  const folder = mkdtempSync(join(tmpdir(), 'executor-'));
  const clock = changes.clock ?? systemClock;
  const path = '/usr/local/bin:/usr/bin:/bin';
  const store = new MemoryEventStore();
  const artifacts = memoryArtifacts();
  const published: Publication[] = [];
  const leases = memoryLeases(clock);
  const jobs = memoryJobs(clock);
  const workspaces = gitWorkspaces({ root: join(folder, 'workspaces'), artifacts, path });
  const sandbox = changes.sandbox ?? { policy: UNSANDBOXED, sandbox: noSandbox(path) };
  const mode: ModeSpec = { ...builtInMode, ...changes.mode };
  let token: TokenVerdict | null = null;
  let made = 0;
  const next = (): string => {
    made += 1;
    return String(made).padStart(12, '0');
  };

  const deps = (owner: string): RunReaderDeps => ({
    store,
    clock,
    artifacts,
    workspaces,
    jobs,
    owner,
    work: ownedWork({ leases, clock, owner, concurrency: 4, hasEnded: (task) => hasEnded(store, task) }),
    folder: join(folder, 'runs'),
    runner: keepingFolder(hostRunner({ artifacts, folder: join(folder, 'commands'), path, sandbox: sandbox.sandbox })),
    sandboxPolicy: sandbox.policy,
    primitives: primitiveCalls(hostGit({ folder: join(folder, 'git'), path })),
    models: changes.models ?? {
      repair: () => playbookModel(loadPlaybook()),
      agent: () => changes.agent ?? null,
    },
    apiUrl: 'http://api.invalid',
    publisher: { publish: (more) => void published.push(...more), settled: () => Promise.resolve() },
    checkToken: async (_, expected) => token ?? { valid: true, claims: { ...expected, jti: 'nonce', exp: 0 } },
    modeOf: async () => mode,
    fresh: () => `fresh-${next()}`,
    concurrency: 4,
    deadLetter: async () => undefined,
  });

  const append = async (stream: string, root: string, type: string, data: object): Promise<RecordedEvent> => {
    const expectedVersion = (await store.readStream(stream)).length;
    const id = `00000000-0000-8000-8000-${next()}`;
    const metadata = { causation_id: 'cause', correlation_id: root, producer: 'test', actor: 'test' };
    const event = { id, type, schema_version: definitionOf(type)?.version ?? 1, data, metadata, occurred_at: AT };
    const outcome = await store.append({ stream, root, expectedVersion, events: [event] });
    if (outcome.outcome !== 'appended' || !outcome.events[0]) throw new Error(JSON.stringify(outcome));
    return outcome.events[0];
  };

  /** Makes run `run` of task `r` ready and gated; the offer carries the `node_ready`. */
  const gated = async (node: Partial<NodeSpec>, more: Partial<NodeReady> = {}) => {
    const nodeReady = nodeReadyOf(node, more);
    const ready = await append(lineageStream(nodeReady.root), nodeReady.root, 'node_ready', nodeReady);
    const { root, task, address, run, run_kind, workspace_ref } = nodeReady;
    const passed = await append(`gate-${task}-${run}`, root, 'governance_passed', {
      ...{ root, task, address, run, run_kind, workspace_ref },
      ...{ outcome: 'proceed', work: 'long', token: 'token', verdicts: [], firewall_hash: HASH },
    });
    return { event: passed, nodeReady: ready };
  };

  const actionEvents = (run = 1) => store.readStream(actionStream('r', run));
  return {
    folder,
    store,
    leases,
    jobs,
    published,
    workspaces,
    artifacts,
    append,
    gated,
    deps,
    actionEvents,
    setToken: (verdict: TokenVerdict) => {
      token = verdict;
    },
    /** Offers work to one executor and waits for its verdict. */
    offer: async (
      offer: Awaited<ReturnType<typeof gated>>,
      to = deps('executor-a'),
      stop = new AbortController().signal,
    ) => {
      const [verdict] = await runReader(to).handle([offer], stop);
      return verdict as Verdict;
    },
    report: async (run = 1) => {
      const end = (await actionEvents(run)).find(({ type }) => type === 'node_verified_action');
      return end?.data as { outcome: string; rung: string; [key: string]: unknown };
    },
    calls: async (run = 1) =>
      (await actionEvents(run))
        .filter(({ type }) => type === 'tool_called')
        .map(({ data }) => data as { command: string; tool: string; outcome: string; rule: string | null }),
    artifactText: async (hash: string): Promise<string> =>
      Buffer.concat(await Array.fromAsync((await artifacts.get(hash)) ?? [])).toString('utf8'),
    /** A repository with one file, and its URL. */
    repository: (): string => {
      const at = join(folder, 'source');
      const git = (...args: string[]) => execFileSync('git', ['-C', at, ...args], { stdio: 'ignore' });
      execFileSync('git', ['init', '-q', '-b', 'main', at]);
      execFileSync('sh', ['-c', 'echo grey > colour'], { cwd: at });
      git('add', '-A');
      git('-c', 'user.name=t', '-c', 'user.email=t@t.invalid', 'commit', '-q', '-m', 'start');
      return at;
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
};

const nodeReadyOf = (node: Partial<NodeSpec>, more: Partial<NodeReady>): NodeReady => ({
  root: 'r',
  task: 'r',
  address: '0',
  run: 1,
  task_kind: 'root',
  run_kind: 'normal',
  purpose: 'first',
  node: {
    id: 'n',
    kind: 'action',
    goal: 'goal',
    recipe: { command: 'true' },
    postcondition: null,
    policy: 'required',
    max_repair_attempts: 0,
    max_agent_attempts: 0,
    model: 'default',
    agent_tools: [],
    env: {},
    timeout_ms: 60_000,
    ...node,
  },
  node_index: 0,
  last_node: true,
  scope: { project: 'p', mode: 'build' },
  protocol: { name: 'default', version: 1, hash: HASH },
  intent: 'goal',
  brief: null,
  spec_hash: HASH,
  workspace_ref: null,
  source: null,
  keep: [],
  judges: null,
  judged_by: null,
  allowance: { time_ms: 60_000, money_micros: 0, tokens: 0 },
  work_class: 'normal',
  merge: null,
  deliver: null,
  verdicts_of: null,
  decisions: [],
  ...more,
});

/** A postcondition of one command. */
export const commandHolds = (command: string, timeout_ms = 30_000) => ({ all: [{ command, timeout_ms }] });
