import type { Rung } from '@fixpoint/contracts/events/executor-events';
import {
  type AgentOutcome,
  type CheckResult,
  type CommandOutcome,
  type Next,
  nextStep,
  type Plan,
  type Step,
} from '../domain/ladder.ts';

/** What one run can do; each records itself before it resolves. */
export interface RungActions {
  check(rung: Rung): Promise<CheckResult>;
  recipe(): Promise<CommandOutcome>;
  /** Asks the repair model and keeps the proposal for `repair`. */
  propose(): Promise<'proposed' | 'declined'>;
  repair(): Promise<CommandOutcome>;
  agent(): Promise<AgentOutcome>;
}

export type Finish = Extract<Next, { do: 'finish' }>;

/** Climbs one ladder to its end; every step is chosen by `nextStep` from what has happened. */
export const climb = async (plan: Plan, actions: RungActions): Promise<Finish> => {
  const done: Step[] = [];
  for (;;) {
    const next = nextStep(plan, done);
    if (next.do === 'finish') return next;
    done.push(await take(next, actions));
  }
};

const take = async (next: Exclude<Next, Finish>, actions: RungActions): Promise<Step> => {
  switch (next.do) {
    case 'check':
      return { step: 'check', result: await actions.check(next.rung) };
    case 'recipe':
      return { step: 'recipe', result: await actions.recipe() };
    case 'propose':
      return { step: 'propose', result: await actions.propose() };
    case 'repair':
      return { step: 'repair', result: await actions.repair() };
    case 'agent':
      return { step: 'agent', result: await actions.agent() };
    default:
      return next satisfies never;
  }
};
