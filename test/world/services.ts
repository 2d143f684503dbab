import { STOP_TYPES } from '@fixpoint/contracts/services';
import { stoppedBy } from '@fixpoint/contracts/stopped';
import { councilReader, DECOMPOSER_COUNCIL } from '@fixpoint/decomposer/council-reader';
import { structuralCouncil } from '@fixpoint/decomposer/structural/structural-council';
import { protocolCatalog } from '@fixpoint/documents/protocol-catalog';
import { stateCache } from '@fixpoint/event-store/state-cache';
import { hostGit } from '@fixpoint/execution/git';
import type { SandboxPolicy } from '@fixpoint/execution/sandbox/confinement';
import { memoryJobs } from '@fixpoint/executor/jobs/memory-jobs';
import { primitiveCalls } from '@fixpoint/executor/ladder/primitive-calls';
import { reaper } from '@fixpoint/executor/run/reaper';
import { EXECUTOR_RUN, runReader } from '@fixpoint/executor/run-reader';
import { tokenCheck } from '@fixpoint/executor/token-check';
import type { Reader } from '@fixpoint/messaging/bus';
import { endedTasks } from '@fixpoint/messaging/ended-tasks';
import { ownedWork } from '@fixpoint/messaging/owned-work';
import { loadPlaybook } from '@fixpoint/models/playbook/load-playbook';
import { playbookModel } from '@fixpoint/models/playbook/playbook';
import { ORCHESTRATOR_DECIDE } from '@fixpoint/orchestrator/decide-reader';
import { type ModelNames, ONLY_THE_PLAYBOOK } from '@fixpoint/orchestrator/model-names';
import { type Orchestrator, orchestratorOf } from '@fixpoint/orchestrator/orchestrator';
import { memoryQueue } from '@fixpoint/orchestrator/queue/memory-queue';
import { type ForeseeableWaits, memoryWaits } from '@fixpoint/orchestrator/waits/memory-waits';
import type { HandoffDeps } from '@fixpoint/orchestrator/writing/handoffs';
import { decisionSigner } from '@fixpoint/orchestrator/writing/sign-decision';
import { deadLetterOf } from '@fixpoint/runtime/dead-letters';
import { changesSinceStart } from '@fixpoint/validator/changes';
import { gateReader, VALIDATOR_GATE } from '@fixpoint/validator/gate-reader';
import { judgeReader, VALIDATOR_JUDGE } from '@fixpoint/validator/judge-reader';
import { type MintToken, runTokens } from '@fixpoint/validator/run-tokens';
import { signedDecisions } from '@fixpoint/validator/signed-decisions';
import { generateSigningKeys, publicKeysOf } from '@fixpoint/validator/token-keys';
import { AGENT, type Foundations, fixedId, foundationsOf, type Ground, withoutPauses } from './foundations.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import { smallShell } from './small-shell.ts';

/** The real handlers of the services, each on memory adapters and in a process of its own. */

const KEYS = generateSigningKeys('world');
export const PUBLIC_KEYS = publicKeysOf(KEYS);
/** What humans decide is signed with these. */
const DECISION_KEYS = generateSigningKeys('people');
const READ_DECISIONS = signedDecisions(publicKeysOf(DECISION_KEYS));
const SIGN = decisionSigner(DECISION_KEYS);
const PLAYBOOK = loadPlaybook();
/** More than one world ever has in hand: a full pool would only hide what comes next. */
const CONCURRENCY = 256;
const KEPT_GATES = 1_000;

export interface OrchestratorProcess {
  readonly process: SimulatedProcess;
  readonly orchestrator: Orchestrator;
  readonly waits: ForeseeableWaits;
  readonly handoffs: HandoffDeps;
}

export const startOrchestrator = async (ground: Ground, name: string): Promise<OrchestratorProcess> => {
  const foundations = foundationsOf(ground, name);
  const { process, store } = foundations;
  // Their rows are due by the clock of whoever keeps them, as those of a database.
  const due = withoutPauses(ground.clock);
  const waits = memoryWaits(store, due);
  const orchestrator = orchestratorOf({
    snapshots: null,
    ...foundations,
    ...(ground.disturb.keptLineages !== undefined && { keptLineages: ground.disturb.keptLineages }),
    ...(ground.disturb.window && { window: ground.disturb.window }),
    models: modelsOf(ground),
    waits,
    queue: memoryQueue(waits, due),
    jitter: () => 0.5,
    bus: ground.bus,
    deadLetter: deadLetterOf(foundations, 'orchestrator', ORCHESTRATOR_DECIDE),
    report: (what, about) => ground.report(`${what} ${JSON.stringify(about)}`),
  });
  process.rounds.push(...Object.values(orchestrator.loops));
  await subscribe(ground, process, orchestrator.reader);
  return { process, orchestrator, waits, handoffs: { ...foundations, ...orchestrator.cancels, sign: SIGN } };
};

const subscribe = ({ bus, disturb }: Ground, process: SimulatedProcess, reader: Reader): Promise<void> =>
  process.subscribe(bus, disturb.reader?.(reader) ?? reader);

const modelsOf = ({ disturb }: Ground): ModelNames => {
  if (disturb.agentModel === undefined) return ONLY_THE_PLAYBOOK;
  return { known: [...ONLY_THE_PLAYBOOK.known, AGENT], agents: [AGENT] };
};

const mintOf = ({ tokenIds }: Ground, { clock, ids }: Foundations): MintToken => {
  // Each signed alone: what is asked in the same moment must not show in the streams.
  const alone = (signAll: () => void): void => signAll();
  const fresh = runTokens(KEYS, { clock, ids, gather: alone });
  if (tokenIds === 'by_sequence') return fresh;
  return (run, hash) => runTokens(KEYS, { clock, ids: fixedId(`${run.task}#${run.run}`), gather: alone })(run, hash);
};

export const startValidator = async (ground: Ground, name: string): Promise<SimulatedProcess> => {
  const foundations = foundationsOf(ground, name);
  const { process, store, clock } = foundations;
  const work = ownedWork({
    leases: process.mortal(ground.leases.validator),
    clock,
    owner: process.name,
    hasEnded: endedTasks(store),
    concurrency: CONCURRENCY,
  });
  const shared = {
    ...foundations,
    work,
    concurrency: CONCURRENCY,
    modeOf: protocolCatalog((stream) => store.readStream(stream)).modeOf,
    states: stateCache<never>(KEPT_GATES),
    workspaces: workspacesOf(ground, foundations),
    runner: shellOf(ground, foundations),
    sandboxPolicy: SANDBOX_POLICY,
    copiesFolder: '/copies',
    decisions: ground.disturb.readDecisions?.(READ_DECISIONS) ?? READ_DECISIONS,
  };
  await ground.bus.listen(STOP_TYPES, ({ event }) => {
    for (const stopped of stoppedBy(event)) work.stop({ root: event.root, ...stopped });
  });
  process.rounds.push((signal) => work.renew(signal));
  const deadLetter = (reader: string) => deadLetterOf(foundations, 'validator', reader);
  const mint = mintOf(ground, foundations);
  const changes = changesSinceStart(shared);
  await subscribe(ground, process, gateReader({ ...shared, mint, deadLetter: deadLetter(VALIDATOR_GATE) }));
  await subscribe(ground, process, judgeReader({ ...shared, changes, deadLetter: deadLetter(VALIDATOR_JUDGE) }));
  return process;
};

/** Commands of this world touch nothing that anybody would have to be kept from. */
const SANDBOX_POLICY: SandboxPolicy = {
  requirement: 'none',
  support: { works: false, detail: 'simulated' },
  readable: [],
};

const shellOf = (ground: Ground, { process }: Foundations) => {
  const shell = smallShell({
    ...ground,
    clock: process.commandClock,
    crash: () => ground.crash(process),
    handIn: ground.disturb.handIn,
  });
  return ground.disturb.runner?.(shell, process) ?? shell;
};

const workspacesOf = ({ trees, disturb }: Ground, { process }: Foundations) =>
  disturb.workspaces?.(trees, process) ?? trees;

const repairModelOf = ({ disturb }: Ground, { process }: Foundations) => {
  const model = playbookModel(PLAYBOOK);
  return disturb.repairModel?.(model, process) ?? model;
};

/** No primitive of these worlds asks it anything. */
const GIT = hostGit({ folder: '/nowhere', path: '/nowhere' });
const TOKEN_CHECK = tokenCheck(PUBLIC_KEYS);

export const startExecutor = async (ground: Ground, name: string): Promise<SimulatedProcess> => {
  const foundations = foundationsOf(ground, name);
  const { process, store, clock, ids } = foundations;
  const leases = process.mortal(ground.leases.executor);
  const work = ownedWork({
    leases,
    clock,
    owner: name,
    hasEnded: endedTasks(store),
    concurrency: CONCURRENCY,
  });
  const own = { ...foundations, leases, work, owner: name };
  const repairModel = repairModelOf(ground, foundations);
  const agentModel = ground.disturb.agentModel?.(process) ?? null;
  const reader = runReader({
    ...own,
    concurrency: CONCURRENCY,
    checkToken: ground.disturb.tokenCheck?.(TOKEN_CHECK) ?? TOKEN_CHECK,
    modeOf: protocolCatalog((stream) => store.readStream(stream)).modeOf,
    fresh: () => ids.uuid(),
    runner: shellOf(ground, foundations),
    sandboxPolicy: SANDBOX_POLICY,
    workspaces: workspacesOf(ground, foundations),
    folder: '/runs',
    primitives: primitiveCalls(GIT),
    jobs: memoryJobs(clock),
    models: { repair: () => repairModel, agent: (named) => (named === agentModel?.name ? agentModel : null) },
    apiUrl: null,
    deadLetter: deadLetterOf(foundations, 'executor', EXECUTOR_RUN),
  });
  await ground.bus.listen(STOP_TYPES, ({ event }) => {
    for (const stopped of stoppedBy(event)) work.stop({ root: event.root, ...stopped });
  });
  process.rounds.push((signal) => work.renew(signal), reaper({ ...own, clock }));
  await subscribe(ground, process, reader);
  return process;
};

export const startDecomposer = async (ground: Ground, name: string): Promise<SimulatedProcess> => {
  const foundations = foundationsOf(ground, name);
  const { process, store, clock } = foundations;
  const work = ownedWork({
    leases: process.mortal(ground.leases.decomposer),
    clock,
    owner: process.name,
    hasEnded: endedTasks(store),
    concurrency: CONCURRENCY,
  });
  await ground.bus.listen(STOP_TYPES, ({ event }) => {
    for (const stopped of stoppedBy(event)) work.stop({ root: event.root, ...stopped });
  });
  process.rounds.push((signal) => work.renew(signal));
  const reader = councilReader({
    ...foundations,
    work,
    modeOf: protocolCatalog((stream) => store.readStream(stream)).modeOf,
    workspaces: ground.trees,
    copiesFolder: '/copies',
    findDocuments: async () => [],
    timer: ground.clock,
    model: ground.disturb.councilModel?.(structuralCouncil, process) ?? structuralCouncil,
    deadLetter: deadLetterOf(foundations, 'decomposer', DECOMPOSER_COUNCIL),
  });
  await subscribe(ground, process, reader);
  return process;
};
