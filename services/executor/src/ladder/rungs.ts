import { canonicalJson } from '@fixpoint/contracts/canonical-json';
import type { Clock } from '@fixpoint/contracts/clock';
import type { ModeSpec } from '@fixpoint/contracts/documents/protocol';
import { checksOutput, type NodeSpec, type ProgramRecipe } from '@fixpoint/contracts/documents/task';
import type { Rung } from '@fixpoint/contracts/events/executor-events';
import type { Json } from '@fixpoint/contracts/json';
import type { CommandResult, Program } from '@fixpoint/execution/runner';
import { type CheckResult, commandCheckResult, evaluatePostcondition } from '@fixpoint/validation/checks';
import type { AgentOutcome, CommandOutcome, CheckResult as LadderCheck } from '../domain/ladder.ts';
import { type AskAgent, recordAgent } from './agent.ts';
import type { RungActions } from './climb.ts';
import { NO_OUTPUT, type NodeOutput, outputOfText, overlaid } from './node-output.ts';
import type { PrimitiveCalls, PrimitiveSetting } from './primitive-calls.ts';
import type { RecordCall, RecordedCommands } from './recorded-commands.ts';
import type { AskRepair } from './repair.ts';
import type { Trace } from './trace.ts';

export interface RungsDeps {
  readonly node: NodeSpec;
  readonly mode: ModeSpec;
  readonly commands: RecordedCommands;
  readonly primitives: PrimitiveCalls;
  readonly setting: PrimitiveSetting;
  readonly record: RecordCall;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** When the whole run must have ended, by the monotonic clock. */
  readonly deadlineMs: number;
  readonly outputOf: (result: CommandResult) => Promise<NodeOutput>;
  /** The file that is the node's output, as it is now; null for a node whose output is what its recipe prints. */
  readonly outputFile: (() => Promise<NodeOutput>) | null;
  /** The output as the checks of the node see it. */
  readonly checkedOutput: (output: NodeOutput) => Promise<Json>;
  readonly askRepair: AskRepair;
  readonly askAgent: AskAgent;
  /** Has a worker do the recipe. */
  readonly letWork: (trace: Trace) => Promise<CommandOutcome>;
  /** @returns what was touched that judges this run, or null. */
  readonly firewall: () => Promise<string | null>;
}

/** The steps of one run, done for real and recorded one by one. */
export const rungs = (deps: RungsDeps, trace: Trace): RungActions => ({
  check: (rung) => check(deps, trace, rung),
  recipe: () => runRecipe(deps, trace),
  propose: () => propose(deps, trace),
  repair: () => repair(deps, trace),
  agent: () => letAgentWork(deps, trace),
});

const remainingMs = ({ clock, deadlineMs }: RungsDeps): number => Math.max(1, deadlineMs - clock.monotonicMs());

const check = async (deps: RungsDeps, trace: Trace, rung: Rung): Promise<LadderCheck> => {
  trace.firewallBroken = await deps.firewall();
  if (trace.firewallBroken !== null) return 'broken';
  const { postcondition } = deps.node;
  if (postcondition === null) return 'unmet';
  await readOutputFile(deps, trace);
  let seen: Json = null;
  const result = await evaluatePostcondition(postcondition, {
    command: async (text, timeoutMs) => {
      const called = await deps.commands.run({
        tool: 'postcondition',
        rung,
        program: { kind: 'shell', text },
        timeoutMs,
      });
      if (called.outcome === 'denied') return { outcome: 'indeterminate', reason: 'denied', detail: called.detail };
      const { stdout } = called.result;
      if (!stdout.truncated) seen = outputOfText(stdout.head + stdout.tail);
      return commandCheckResult(called.result);
    },
    primitive: (name, input, timeoutMs) => checkPrimitive(deps, rung, { name, input, timeoutMs }),
    evidence: {
      output: checksOutput(deps.node) ? await deps.checkedOutput(trace.output) : trace.output.output,
      exitCode: trace.exitCode,
      ...trace.printed,
    },
    signal: deps.setting.signal,
  });
  trace.detail = result.detail;
  if (result.outcome === 'met') trace.output = overlaid(trace.output, seen);
  return ladderCheck(result);
};

/** The file as it is now, where a file is the output. One that a recipe left as it was, and failed, is nothing that it put out. */
export const readOutputFile = async ({ outputFile }: Pick<RungsDeps, 'outputFile'>, trace: Trace): Promise<void> => {
  if (outputFile === null) return;
  const now = await outputFile();
  const { fileBefore: before, exitCode } = trace;
  const isUntouched = before !== null && canonicalJson([now.output]) === canonicalJson([before.output]);
  trace.output = isUntouched && now.artifact === before?.artifact && exitCode !== 0 ? NO_OUTPUT : now;
};

const ladderCheck = (result: CheckResult): LadderCheck => {
  if (result.outcome !== 'indeterminate') return result.outcome;
  if (result.reason === 'cancelled') return 'cancelled';
  return result.reason === 'not_started' ? 'absent' : 'broken';
};

interface PrimitiveCall {
  readonly name: string;
  readonly input: Readonly<Record<string, Json>>;
  readonly timeoutMs: number;
}

const shown = ({ name, input }: Omit<PrimitiveCall, 'timeoutMs'>): string =>
  `${name} ${JSON.stringify(input)}`.slice(0, 4096);

const NO_PROCESS = { exit_code: null, signal: null, rule: null, stdout: null, stderr: null };

const checkPrimitive = async (deps: RungsDeps, rung: Rung, call: PrimitiveCall): Promise<CheckResult> => {
  const startedAt = deps.clock.monotonicMs();
  const result = await deps.primitives.check(call.name, call.input, {
    setting: deps.setting,
    timeoutMs: call.timeoutMs,
  });
  const outcome = result.outcome === 'met' ? 'ok' : result.outcome === 'unmet' ? 'failed' : 'not_started';
  await deps.record({
    ...NO_PROCESS,
    tool: 'postcondition',
    rung,
    command: shown(call),
    outcome,
    duration_ms: deps.clock.monotonicMs() - startedAt,
    detail: result.detail.slice(0, 1024),
  });
  return result;
};

const runRecipe = async (deps: RungsDeps, trace: Trace): Promise<CommandOutcome> => {
  if (deps.outputFile !== null) trace.fileBefore = await deps.outputFile();
  const { recipe } = deps.node;
  if ('primitive' in recipe)
    return runPrimitive(deps, trace, { name: recipe.primitive, input: recipe.with, timeoutMs: remainingMs(deps) });
  if ('worker' in recipe) return deps.letWork(trace);
  const program = programOf(recipe);
  const outcome = await runProgram(deps, trace, { tool: 'recipe', rung: 'recipe', program });
  return deps.node.kind === 'gate' ? asCheck(outcome, trace) : outcome;
};

/** The recipe of a gate is its check: what a check could not say with this exit code, a gate could not say either. */
const asCheck = (outcome: CommandOutcome, trace: Trace): CommandOutcome => {
  const result = trace.last?.result ?? null;
  if (outcome !== 'nonzero' || result === null) return outcome;
  const said = commandCheckResult(result);
  if (said.outcome !== 'indeterminate') return outcome;
  trace.detail = said.detail;
  return said.reason === 'killed' ? 'killed' : 'not_started';
};

const programOf = (recipe: ProgramRecipe): Extract<Program, { kind: 'shell' | 'script' }> =>
  'command' in recipe
    ? { kind: 'shell', text: recipe.command }
    : { kind: 'script', language: recipe.language, text: recipe.script };

const PRIMITIVE_OUTCOMES = { zero: 'ok', nonzero: 'failed', timed_out: 'timed_out', cancelled: 'cancelled' } as const;

const runPrimitive = async (deps: RungsDeps, trace: Trace, call: PrimitiveCall): Promise<CommandOutcome> => {
  const startedAt = deps.clock.monotonicMs();
  const result = await deps.primitives.run(call.name, call.input, { setting: deps.setting, timeoutMs: call.timeoutMs });
  await deps.record({
    ...NO_PROCESS,
    tool: 'recipe',
    rung: 'recipe',
    command: shown(call),
    outcome: PRIMITIVE_OUTCOMES[result.outcome],
    duration_ms: deps.clock.monotonicMs() - startedAt,
    detail: result.detail.slice(0, 1024),
  });
  trace.last = { command: shown(call), result: null };
  trace.output = { output: result.output, artifact: null };
  trace.exitCode = { zero: 0, nonzero: 1, timed_out: null, cancelled: null }[result.outcome];
  trace.detail = result.detail;
  return result.outcome;
};

interface ProgramCall {
  readonly tool: 'recipe' | 'self_repair';
  readonly rung: Rung;
  readonly program: Extract<Program, { kind: 'shell' | 'script' }>;
  readonly rule?: string;
}

const runProgram = async (deps: RungsDeps, trace: Trace, call: ProgramCall): Promise<CommandOutcome> => {
  const called = await deps.commands.run({ ...call, timeoutMs: remainingMs(deps) });
  trace.last = { command: call.program.text, result: called.result };
  trace.exitCode = called.result?.exitCode ?? null;
  trace.printed = { stdout: called.result?.stdout.head ?? '', stderr: called.result?.stderr.head ?? '' };
  if (called.outcome === 'denied') {
    trace.detail = `denied by ${called.rule}: ${called.detail}`;
    return 'denied';
  }
  trace.output = await deps.outputOf(called.result);
  trace.detail = called.result.stderr.tail || called.result.stderr.head || called.result.stdout.tail;
  return called.outcome;
};

const propose = async (deps: RungsDeps, trace: Trace): Promise<'proposed' | 'declined'> => {
  const startedAt = deps.clock.monotonicMs();
  const answer = await deps.askRepair(trace);
  await deps.record({
    ...NO_PROCESS,
    tool: 'repair_model',
    rung: 'self_repair',
    command: answer.proposal?.program.text.slice(0, 4096) ?? '',
    outcome: answer.proposal === null ? 'declined' : 'ok',
    rule: answer.proposal?.rule ?? null,
    duration_ms: deps.clock.monotonicMs() - startedAt,
    detail: answer.reason.slice(0, 1024),
  });
  trace.proposal = answer.proposal;
  return answer.proposal === null ? 'declined' : 'proposed';
};

const repair = async (deps: RungsDeps, trace: Trace): Promise<CommandOutcome> => {
  const { proposal } = trace;
  if (proposal === null) return 'not_started';
  trace.repairedCommand = proposal.program.text;
  return runProgram(deps, trace, {
    tool: 'self_repair',
    rung: 'self_repair',
    program: proposal.program,
    rule: proposal.rule,
  });
};

/** A gate, or a check after it, may find that it touched what judges the run; so it is asked here, whatever follows. */
const letAgentWork = async (deps: RungsDeps, trace: Trace): Promise<AgentOutcome> => {
  const startedAt = deps.clock.monotonicMs();
  const answer = await deps.askAgent(() => remainingMs(deps));
  await recordAgent(deps.record, answer, deps.clock.monotonicMs() - startedAt);
  if (deps.setting.signal.aborted) return 'cancelled';
  trace.detail = answer.summary;
  trace.firewallBroken = await deps.firewall();
  return trace.firewallBroken === null ? answer.outcome : 'broken';
};
