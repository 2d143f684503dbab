import { agentStepsOf, type ModeSpec } from '@fixpoint/contracts/documents/protocol';
import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import { startsElsewhere } from '@fixpoint/contracts/human-decision';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import type { Confinement } from '@fixpoint/execution/sandbox/limits';
import { workspaceFiles } from '@fixpoint/execution/workspace-files';
import type { Plan } from '../domain/ladder.ts';
import type { AskAgent } from '../ladder/agent.ts';
import { climb, type Finish } from '../ladder/climb.ts';
import { checkedOutput, nodeOutput } from '../ladder/node-output.ts';
import { outputOfFile } from '../ladder/output-file.ts';
import { hashOfProtected } from '../ladder/protected-files.ts';
import { type RecordedCommands, recordedCommands } from '../ladder/recorded-commands.ts';
import { type AskRepair, askRepair } from '../ladder/repair.ts';
import { readOutputFile, rungs } from '../ladder/rungs.ts';
import { newTrace, type Trace } from '../ladder/trace.ts';
import { askAgent, NoSuchModel } from './agent-rung.ts';
import { type Assignment, confinementOf, type NodeReady, planOf } from './assignment.ts';
import { type LongRunDeps, type RunAt, type RunEnd, refNameOf } from './run-end.ts';
import { finishedReport } from './run-report.ts';
import { withinPaths } from './within-paths.ts';
import { letWork } from './worker-rung.ts';

/** Materialise, climb, capture. */
export const climbRun = async (
  deps: LongRunDeps,
  assignment: Assignment,
  at: RunAt & { readonly runKind: Plan['runKind'] },
): Promise<RunEnd> => {
  const { nodeReady } = assignment;
  await deps.workspaces.materialise(at.start, at.folder);
  const begun = { ...at, start: await begunFrom(deps, nodeReady, at) };
  const { finish, trace } = await climbIn(deps, assignment, begun);
  const workspaceRef = await refAfter(deps, nodeReady, { finish, trace, at: begun });
  const left = { trace, workspaceRef, durationMs: at.durationMs() };
  const report = await withinPaths(deps.workspaces, nodeReady, {
    start: begun.start,
    report: finishedReport(nodeReady, finish, left),
  });
  return { report, delivered: null };
};

/** What a human brought, as an addition to what the lineage has: taken before any check could leave something there. */
const begunFrom = async (deps: LongRunDeps, nodeReady: NodeReady, { folder, start }: RunAt): Promise<WorkspaceRef> => {
  if (!startsElsewhere(nodeReady)) return start;
  const { workspace_ref, compared_with = null } = nodeReady;
  const known = workspace_ref ?? (await deps.workspaces.resolve(compared_with));
  return captured(deps, nodeReady, { folder, start: known });
};

interface Climbed {
  readonly finish: Finish;
  readonly trace: Trace;
}

/** The ladder of a run in its folder, which holds its workspace. */
export const climbIn = async (
  deps: LongRunDeps,
  { nodeReady, passed, mode, evidence }: Assignment,
  at: RunAt & { readonly runKind: Plan['runKind'] },
): Promise<Climbed> => {
  const { node } = nodeReady;
  const trace = newTrace(evidence);
  const confinement = await confinementAt(deps, { nodeReady, mode }, at.folder);
  const untouched = await hashOfProtected(mode.protected, at.folder);
  const commands = recordedCommands({
    runner: deps.runner,
    rules: mode.command_rules,
    record: at.record,
    setting: { cwd: at.folder, env: envOf(nodeReady), signal: at.signal, confinement },
    grant: { token: passed.token, apiUrl: deps.apiUrl },
  });
  const path = node.output_file;
  const outputFile = path === undefined ? null : () => outputOfFile(at.folder, path, deps.artifacts);
  const actions = rungs(
    {
      node,
      mode,
      commands,
      primitives: deps.primitives,
      setting: { folder: at.folder, scratch: new Map(), signal: at.signal },
      record: at.record,
      clock: deps.clock,
      deadlineMs: at.deadlineMs,
      outputOf: (result) => nodeOutput(result.stdout, deps.artifacts),
      outputFile,
      checkedOutput: (output) => checkedOutput(output, deps.artifacts),
      askRepair: repairAt(deps, node, at),
      askAgent: agentAt(deps, nodeReady, { at, commands, mode, trace }),
      letWork: letWork(deps, { nodeReady, passed, at, here: () => captured(deps, nodeReady, at) }),
      firewall: async () =>
        (await hashOfProtected(mode.protected, at.folder)) === untouched ? null : 'a protected path was changed',
    },
    trace,
  );
  const finish = await climb(planOf(nodeReady, at.runKind), actions);
  // Where no check reads the file after the recipe.
  if (node.postcondition === null) await readOutputFile({ outputFile }, trace);
  return { finish, trace };
};

/** What its commands get, together with the objects that git borrows in its workspace. To be asked before any has run. */
const confinementAt = async (
  { sandboxPolicy, workspaces }: LongRunDeps,
  assignment: Pick<Assignment, 'nodeReady' | 'mode'>,
  folder: string,
): Promise<Confinement> => {
  const confinement = confinementOf(sandboxPolicy, assignment);
  if ('refused' in confinement) throw new Error(`a run was started that is refused: ${confinement.detail}`);
  return { ...confinement, readable: [...confinement.readable, ...(await workspaces.borrowed(folder))] };
};

/** What every command may know of its run. The key lets an effect outside be done once however often a run is repeated. */
const envOf = ({ task, node }: NodeReady): Record<string, string> => ({
  FIXPOINT_IDEMPOTENCY_KEY: `${task}/${node.id}`,
  ...node.env,
});

const repairAt = ({ models }: LongRunDeps, node: NodeSpec, { account, signal }: RunAt): AskRepair => {
  const model = models.repair(node.model);
  if (model === null) return () => Promise.reject(new NoSuchModel(`this executor has no model ${node.model}`));
  return askRepair({ model, node, account, signal });
};

interface AgentAt {
  readonly at: RunAt;
  readonly commands: RecordedCommands;
  readonly mode: ModeSpec;
  readonly trace: Trace;
}

/** The last rung of a ladder can be left out; a run for an agent is nothing without one. */
const noAgent = (model: string, { run_kind: kind }: NodeReady): AskAgent => {
  const summary = `this executor has no agent ${model}`;
  if (kind === 'agent') return () => Promise.reject(new NoSuchModel(summary));
  return async () => ({ outcome: 'declined', summary, model });
};

/** What an agent left for a gate is kept before the gate's own recipe is run, which leaves nothing. */
const agentAt = (deps: LongRunDeps, nodeReady: NodeReady, { at, commands, mode, trace }: AgentAt): AskAgent => {
  const name = nodeReady.stalled?.model ?? nodeReady.node.model;
  const model = deps.models.agent(name);
  if (model === null) return noAgent(name, nodeReady);
  const { record, account, signal } = at;
  const means = {
    commands,
    rules: mode.command_rules,
    record,
    files: workspaceFiles(at.folder),
    artifacts: deps.artifacts,
    clock: deps.clock,
  };
  const mostSteps = agentStepsOf(mode.bounds);
  const ask = askAgent({ ...means, model, nodeReady, trace, account, mostSteps, signal });
  return async (remainingMs) => {
    const answer = await ask(remainingMs);
    if (nodeReady.node.kind === 'gate' && !signal.aborted) trace.agentRef = await captured(deps, nodeReady, at);
    return answer;
  };
};

/** A check, a gate and a skip have no effects that may stay; everything else leaves the folder as it is now. */
const refAfter = async (
  deps: LongRunDeps,
  nodeReady: NodeReady,
  { finish, trace, at }: Climbed & { readonly at: RunAt },
): Promise<WorkspaceRef | null> => {
  if (finish.outcome === 'cancelled') return null;
  if (trace.agentRef !== null) return trace.agentRef;
  if (nodeReady.run_kind === 'check' || nodeReady.node.kind === 'gate' || finish.rung === 'skip') return at.start;
  return captured(deps, nodeReady, at);
};

const captured = (
  { workspaces }: Pick<LongRunDeps, 'workspaces'>,
  nodeReady: NodeReady,
  { folder, start }: Pick<RunAt, 'folder' | 'start'>,
): Promise<WorkspaceRef> => workspaces.capture(folder, start, { keep: nodeReady.keep, refName: refNameOf(nodeReady) });
