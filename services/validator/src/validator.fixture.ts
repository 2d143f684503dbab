import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '@fixpoint/contracts/clock';
import type { ModeSpec, ValidatorSpec } from '@fixpoint/contracts/documents/protocol';
import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { EventType } from '@fixpoint/contracts/events/catalogue';
import { readEvent } from '@fixpoint/contracts/events/parse-event';
import { actionStream, gateStream, lineageStream } from '@fixpoint/contracts/streams';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import { builtInMode, builtInProtocolRef } from '@fixpoint/documents/built-in-protocol';
import { memoryArtifacts } from '@fixpoint/event-store/memory-artifacts';
import { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import { stateCache } from '@fixpoint/event-store/state-cache';
import { gitWorkspaces } from '@fixpoint/execution/git-workspaces';
import { hostRunner } from '@fixpoint/execution/process-runner';
import { noSandbox } from '@fixpoint/execution/sandbox/no-sandbox';
import type { Offer, Publication, Reader, Verdict } from '@fixpoint/messaging/bus';
import { memoryLeases } from '@fixpoint/messaging/memory-leases';
import { ownedWork } from '@fixpoint/messaging/owned-work';
import { hasEnded } from '@fixpoint/messaging/run-lookup';
import { systemClock } from '@fixpoint/runtime/system-clock';
import { changesSinceStart } from './changes.ts';
import { type GateReaderDeps, gateReader } from './gate-reader.ts';
import { type JudgeReaderDeps, judgeReader } from './judge-reader.ts';
import type { Action, NodeReady } from './run-lookup.ts';
import { runTokens } from './run-tokens.ts';
import { generateSigningKeys, publicKeysOf } from './token-keys.ts';

const AT = '2026-01-01T00:00:00.000Z';
const HASH = 'a'.repeat(64);
const PATH = '/usr/local/bin:/usr/bin:/bin';

/** One validator on memory adapters with real processes and real git. */
export const validatorWorld = async (changes: { clock?: Clock; mode?: Partial<ModeSpec> } = {}) => {
  const folder = mkdtempSync(join(tmpdir(), 'validator-'));
  const clock = changes.clock ?? systemClock;
  const store = new MemoryEventStore();
  const artifacts = memoryArtifacts();
  const published: Publication[] = [];
  const leases = memoryLeases(clock);
  const workspaces = gitWorkspaces({ root: join(folder, 'workspaces'), artifacts, path: PATH });
  const keys = generateSigningKeys('k1');
  const mode: ModeSpec = { ...builtInMode, ...changes.mode };
  let made = 0;
  const next = (): string => String(++made).padStart(12, '0');
  const ids = { uuid: () => `00000000-0000-4000-8000-${next()}` };

  /** A replica: nothing is shared but store, artifacts and leases. */
  const deps = (owner = 'validator-a'): GateReaderDeps & JudgeReaderDeps => ({
    store,
    artifacts,
    workspaces,
    clock,
    ids,
    states: stateCache(100),
    runner: hostRunner({ artifacts, folder: join(folder, 'commands'), path: PATH, sandbox: noSandbox(PATH) }),
    sandboxPolicy: { requirement: 'none', support: { works: false, detail: '' }, readable: [] },
    copiesFolder: join(folder, 'copies'),
    decisions: async () => [],
    changes: changesSinceStart({ workspaces, artifacts }),
    mint: runTokens(keys, { clock, ids }),
    work: ownedWork({ leases, clock, owner, hasEnded: (task) => hasEnded(store, task), concurrency: 2 }),
    publisher: { publish: (more) => void published.push(...more), settled: () => Promise.resolve() },
    modeOf: async () => mode,
    concurrency: 16,
    deadLetter: async () => undefined,
  });

  const append = async (
    stream: string,
    root: string,
    { type, data }: { type: EventType; data: object },
  ): Promise<RecordedEvent> => {
    const expectedVersion = (await store.readStream(stream)).length;
    const metadata = { causation_id: 'cause', correlation_id: root, producer: 'test', actor: 'ann' };
    const event = { id: `00000000-0000-8000-8000-${next()}`, type, schema_version: 1, data, metadata, occurred_at: AT };
    const outcome = await store.append({ stream, root, expectedVersion, events: [event] });
    if (outcome.outcome !== 'appended' || !outcome.events[0]) throw new Error(JSON.stringify(outcome));
    return outcome.events[0];
  };

  const offerTo = async (reader: Reader, offer: Offer, signal = new AbortController().signal): Promise<Verdict> => {
    const [verdict] = await reader.handle([offer], signal);
    if (verdict === undefined) throw new Error('no verdict');
    return verdict;
  };

  const ready = async (node: Partial<NodeSpec> = {}, more: Partial<NodeReady> = {}): Promise<Offer> => {
    const data = nodeReadyOf(node, more);
    return { event: await append(lineageStream(data.root), data.root, { type: 'node_ready', data }), nodeReady: null };
  };

  return {
    ...{ folder, store, artifacts, published, leases, workspaces, deps, append, ready },
    publicKeys: publicKeysOf(keys),
    askGate: (offer: Offer, to = deps(), signal?: AbortSignal) => offerTo(gateReader(to), offer, signal),
    askJudge: (offer: Offer, to = deps(), signal?: AbortSignal) => offerTo(judgeReader(to), offer, signal),
    /** A run that passed its gate and ended so; the offer asks for its judgement. */
    ended: async (
      action: Partial<Action> = {},
      { node, more }: { node?: Partial<NodeSpec>; more?: Partial<NodeReady> } = {},
    ): Promise<Offer> => {
      const { event } = await ready(node, more);
      const run = readEvent(event, 'node_ready');
      const { root, task, address, run: number, run_kind, workspace_ref } = run;
      await append(gateStream(task, number), root, {
        type: 'governance_passed',
        data: {
          root,
          task,
          address,
          run: number,
          run_kind,
          workspace_ref,
          outcome: 'proceed',
          work: 'long',
          token: 't',
          verdicts: [],
          firewall_hash: HASH,
        },
      });
      const data = actionOf(run, action);
      return {
        event: await append(actionStream(task, number), root, { type: 'node_verified_action', data }),
        nodeReady: event,
      };
    },
    /** The events of a run's gate. */
    answers: async (run = 1) => store.readStream(gateStream('r', run)),
    publishedTypes: () => published.map(({ offer, reoffer }) => [offer.event.type, reoffer === '' ? 'first' : 'again']),
    /** Result of a run that did this in an empty workspace, or in the one of a run before. */
    worked: async (script: string, start: WorkspaceRef | null = null): Promise<WorkspaceRef> => {
      const at = join(folder, `work-${next()}`);
      const from = start ?? (await workspaces.resolve(null));
      await workspaces.materialise(from, at);
      execFileSync('sh', ['-ec', script], { cwd: at, env: { PATH, HOME: folder }, stdio: 'pipe' });
      return workspaces.capture(at, from, { keep: [], refName: 'refs/fixpoint/r/r/1' });
    },
    copies: () => (existsSync(join(folder, 'copies')) ? readdirSync(join(folder, 'copies')) : []),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
};

/** A validator as a protocol has it. */
export const validatorOf = (
  id: string,
  check: ValidatorSpec['check'],
  more: Partial<ValidatorSpec> = {},
): ValidatorSpec => ({
  id,
  check,
  severity: 'blocker',
  overridable: true,
  severity_cap: null,
  fix: null,
  timeout_ms: 20_000,
  on: 'node',
  ...more,
});

export const nodeReadyOf = (node: Partial<NodeSpec> = {}, more: Partial<NodeReady> = {}): NodeReady => ({
  ...{ root: 'r', task: 'r', address: '0', run: 1, task_kind: 'root', run_kind: 'normal', purpose: 'first' },
  node: {
    ...{
      id: 'n',
      kind: 'action',
      goal: 'goal',
      recipe: { command: 'make' },
      postcondition: { all: [{ command: 'true', timeout_ms: 1000 }] },
    },
    ...{
      policy: 'required',
      max_repair_attempts: 0,
      max_agent_attempts: 0,
      model: 'default',
      agent_tools: [],
      env: {},
      timeout_ms: 60_000,
    },
    ...node,
  },
  ...{ node_index: 0, last_node: true, scope: { project: 'p', mode: 'build' }, protocol: builtInProtocolRef },
  ...{
    intent: 'goal',
    brief: null,
    spec_hash: HASH,
    workspace_ref: null,
    source: null,
    keep: [],
    judges: null,
    judged_by: null,
  },
  ...{
    allowance: { time_ms: 60_000, money_micros: 0, tokens: 0 },
    work_class: 'normal',
    merge: null,
    deliver: null,
    verdicts_of: null,
    decisions: [],
  },
  ...more,
});

const actionOf = ({ root, task, address, run, run_kind, node }: NodeReady, more: Partial<Action>): Action => ({
  ...{ root, task, address, run, run_kind, node_id: node.id, outcome: 'satisfied', fault_class: null, rung: 'recipe' },
  ...{
    policy: node.policy,
    postcondition_met: node.postcondition === null ? null : true,
    exit_code: 0,
    recipe_hash: HASH,
  },
  ...{
    repaired_command: null,
    workspace_ref: null,
    output: null,
    output_artifact: null,
    detail: '',
    firewall_broken: null,
  },
  spent: { duration_ms: 1, money_micros: 0, tokens: 0 },
  merge_conflicts: null,
  provider_fault: null,
  ...more,
});
