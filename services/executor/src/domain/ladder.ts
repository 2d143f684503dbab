import type { Policy } from '@fixpoint/contracts/documents/task';
import type { Rung, RunOutcome } from '@fixpoint/contracts/events/executor-events';

/** What of a node decides about the way up the ladder. */
export interface Plan {
  readonly kind: 'action' | 'gate' | 'compute';
  /** `agent`: what an agent does, then the check alone; no rung below it. */
  readonly runKind: 'normal' | 'check' | 'agent';
  readonly policy: Policy;
  readonly hasPostcondition: boolean;
  /** A json_schema or CEL postcondition looks at the recipe's output: before the recipe ran it can't be met. */
  readonly checksOutput: boolean;
  /** Only commands and scripts can be repaired, under policy `recover`. */
  readonly repairs: number;
  /** Tries of an agent, once the repairs are used up; only under policy `recover`. */
  readonly agents: number;
  /** A check run of a node without a postcondition judges this earlier run again; a check of the output looks at its output. */
  readonly judges: number | null;
  /** A human signed that it is done, where no check can be asked. */
  readonly attested: boolean;
}

/** What became of one step. */
export type Step =
  | { readonly step: 'check'; readonly result: CheckResult }
  | { readonly step: 'recipe'; readonly result: CommandOutcome }
  | { readonly step: 'propose'; readonly result: 'proposed' | 'declined' }
  | { readonly step: 'repair'; readonly result: CommandOutcome }
  | { readonly step: 'agent'; readonly result: AgentOutcome };

/** `absent`: what the check would run does not exist (yet); `broken`: it was killed, timed out or denied. */
export type CheckResult = 'met' | 'unmet' | 'absent' | 'broken' | 'cancelled';

/** `denied`: by a command rule, nothing ran; `cancelled`: stopped from outside. */
export type CommandOutcome = 'zero' | 'nonzero' | 'timed_out' | 'killed' | 'not_started' | 'denied' | 'cancelled';

/** `broken`: it touched what judges it. */
export type AgentOutcome = 'worked' | 'declined' | 'broken' | 'cancelled';

export type Next =
  | { readonly do: 'check'; readonly rung: Rung }
  | { readonly do: 'recipe' }
  | { readonly do: 'propose' }
  | { readonly do: 'repair' }
  | { readonly do: 'agent' }
  | {
      readonly do: 'finish';
      readonly outcome: RunOutcome;
      readonly rung: Rung;
      readonly postconditionMet: boolean | null;
    };

/**
 * The ladder of one run: skip, recipe, self-repair, agent, policy; the postcondition decides at every rung and never the exit
 * code. The next step is read from what has happened so far, so there is no second place that knows the order.
 * Source: docs/rules.md (The ladder).
 */
export const nextStep = (plan: Plan, done: readonly Step[]): Next => {
  const climb = { plan, done };
  if (done.some((step) => step.result === 'cancelled')) return finish(climb, 'cancelled', null);
  if (plan.runKind === 'check') return nextOfCheckRun(climb);
  if (plan.runKind === 'agent') return nextOfAgentRun(climb);
  if (plan.kind === 'gate') return nextOfGate(climb);
  return plan.hasPostcondition ? nextOfLadder(climb) : nextOfBareRecipe(climb);
};

/** A plan and how far it has come. */
interface Climb {
  readonly plan: Plan;
  readonly done: readonly Step[];
}

const finish = ({ plan, done }: Climb, outcome: RunOutcome, met: boolean | null): Next => {
  const lowered = outcome === 'unmet' && plan.policy === 'best_effort' && plan.runKind === 'normal';
  return {
    do: 'finish',
    outcome: lowered ? 'degraded' : outcome,
    rung: lastRung({ plan, done }),
    postconditionMet: met,
  };
};

/** The last rung that executed something; a proposal or a denied command is none. */
const lastRung = ({ plan, done }: Climb): Rung => {
  if (plan.runKind === 'check') return 'check';
  const last = done.findLast(hasRun);
  if (last) return RUNGS[last.step];
  return done.some((step) => step.step === 'check') ? 'skip' : 'none';
};

const RUNGS = { check: 'check', propose: 'none', recipe: 'recipe', repair: 'self_repair', agent: 'agent' } as const;

const hasRun = ({ step, result }: Step): boolean => {
  if (step === 'agent') return result !== 'declined';
  return (step === 'recipe' || step === 'repair') && result !== 'denied';
};

/** A check that stands for itself: met, unmet, or nothing can be said. */
const conclude = (climb: Climb, result: CheckResult): Next => {
  if (result === 'met') return finish(climb, 'satisfied', true);
  return result === 'unmet' ? finish(climb, 'unmet', false) : finish(climb, 'indeterminate', null);
};

const nextOfCheckRun = (climb: Climb): Next => {
  if (climb.plan.kind === 'gate') return nextOfGate(climb);
  const { hasPostcondition, judges, attested } = climb.plan;
  if (!hasPostcondition) return finish(climb, judges === null && !attested ? 'unmet' : 'satisfied', null);
  // No recipe has run, so there is no output to look at: the node has to run again.
  if (climb.plan.checksOutput && climb.plan.judges === null) return finish(climb, 'unmet', false);
  const check = climb.done.find((step) => step.step === 'check');
  return check ? conclude(climb, check.result) : { do: 'check', rung: 'check' };
};

/** What an agent did is judged as any work is: by the check, else by the recipe, which is run as it stands. */
const nextOfAgentRun = (climb: Climb): Next => {
  const { plan, done } = climb;
  const agent = done.find((step) => step.step === 'agent');
  if (!agent) return { do: 'agent' };
  if (agent.result === 'broken') return finish(climb, 'indeterminate', null);
  if (plan.kind === 'gate') return nextOfGate(climb);
  if (!plan.hasPostcondition) return nextOfBareRecipe(climb);
  const recipe = done.find((step) => step.step === 'recipe');
  if (plan.checksOutput && !recipe) return { do: 'recipe' };
  const check = done.find((step) => step.step === 'check');
  return check ? conclude(climb, check.result) : { do: 'check', rung: 'agent' };
};

/** A gate is its own check: no rungs, and what could not run says nothing. */
const nextOfGate = (climb: Climb): Next => {
  const recipe = climb.done.find((step) => step.step === 'recipe');
  if (!recipe) return { do: 'recipe' };
  if (recipe.result === 'zero') return finish(climb, 'satisfied', true);
  return recipe.result === 'nonzero' ? finish(climb, 'unmet', false) : finish(climb, 'indeterminate', null);
};

/** Without a postcondition: exit code 0, as in plain CI. */
const nextOfBareRecipe = (climb: Climb): Next => {
  const recipe = climb.done.find((step) => step.step === 'recipe');
  if (!recipe) return { do: 'recipe' };
  return finish(climb, recipe.result === 'zero' ? 'satisfied' : 'unmet', null);
};

const nextOfLadder = (climb: Climb): Next => {
  const last = climb.done.at(-1);
  if (!last) return climb.plan.checksOutput ? { do: 'recipe' } : { do: 'check', rung: 'skip' };
  switch (last.step) {
    case 'check':
      return afterCheck(climb, last.result);
    case 'recipe':
      return afterCommand(climb, last.result, 'recipe');
    case 'repair':
      return afterCommand(climb, last.result, 'self_repair');
    case 'agent':
      return afterAgent(climb, last.result);
    case 'propose':
      return last.result === 'proposed' ? { do: 'repair' } : agentOrEnd(climb);
    default:
      return last satisfies never;
  }
};

const afterCheck = (climb: Climb, result: CheckResult): Next => {
  if (result === 'met') return finish(climb, 'satisfied', true);
  const isSkip = !climb.done.some((step) => step.step === 'recipe');
  // What the check needs may be what the recipe makes; anything else that could not run says nothing.
  if (isSkip && (result === 'unmet' || result === 'absent')) return { do: 'recipe' };
  return result === 'unmet' ? repairOrEnd(climb) : finish(climb, 'indeterminate', null);
};

/** Checked after everything that may have had effects, also after errors and time-outs; a denied command had none. */
const afterCommand = (climb: Climb, result: CommandOutcome, rung: Rung): Next =>
  result === 'denied' || result === 'not_started' ? repairOrEnd(climb) : { do: 'check', rung };

/** Where an agent has been, no command is corrected any more. */
const repairOrEnd = (climb: Climb): Next => {
  const mayRepair = timesDone(climb, 'agent') === 0 && timesDone(climb, 'repair') < climb.plan.repairs;
  return mayRepair ? { do: 'propose' } : agentOrEnd(climb);
};

const agentOrEnd = (climb: Climb): Next =>
  timesDone(climb, 'agent') < climb.plan.agents ? { do: 'agent' } : finish(climb, 'unmet', false);

const timesDone = ({ done }: Climb, step: Step['step']): number => done.filter((each) => each.step === step).length;

/** A check of the output needs one: what the recipe puts out on what the agent has left. */
const afterAgent = (climb: Climb, result: AgentOutcome): Next => {
  if (result === 'broken') return finish(climb, 'indeterminate', null);
  if (result === 'declined') return finish(climb, 'unmet', false);
  return climb.plan.checksOutput ? { do: 'recipe' } : { do: 'check', rung: 'agent' };
};
