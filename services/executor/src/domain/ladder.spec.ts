import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type AgentOutcome,
  type CheckResult,
  type CommandOutcome,
  type Next,
  nextStep,
  type Plan,
  type Step,
} from './ladder.ts';

const plan = (changes: Partial<Plan> = {}): Plan => ({
  kind: 'action',
  runKind: 'normal',
  policy: 'recover',
  hasPostcondition: true,
  checksOutput: false,
  repairs: 1,
  agents: 0,
  judges: null,
  attested: false,
  ...changes,
});

const check = (result: CheckResult): Step => ({ step: 'check', result });
const recipe = (result: CommandOutcome): Step => ({ step: 'recipe', result });
const repair = (result: CommandOutcome): Step => ({ step: 'repair', result });
const proposed: Step = { step: 'propose', result: 'proposed' };
const declined: Step = { step: 'propose', result: 'declined' };
const end = (outcome: string, rung: string, postconditionMet: boolean | null) => ({
  do: 'finish',
  outcome,
  rung,
  postconditionMet,
});

describe('ladder with a postcondition', () => {
  test('asks the postcondition before anything else', () => {
    expect(nextStep(plan(), [])).toEqual({ do: 'check', rung: 'skip' });
  });
  test('I-T01 never runs the recipe when the postcondition already holds', () => {
    expect(nextStep(plan(), [check('met')])).toEqual(end('satisfied', 'skip', true));
  });
  test('I-T02 is satisfied when the recipe made the postcondition hold', () => {
    expect(nextStep(plan(), [check('unmet'), recipe('zero'), check('met')])).toEqual(end('satisfied', 'recipe', true));
  });
  test.each(['nonzero', 'timed_out', 'killed'] as const)(
    'X18 S-T56 checks after a recipe that ended %s: work that was done is looked at',
    (result) => {
      expect(nextStep(plan(), [check('unmet'), recipe(result)])).toEqual({ do: 'check', rung: 'recipe' });
    },
  );
  test('is satisfied by the state although the recipe failed', () => {
    expect(nextStep(plan(), [check('unmet'), recipe('nonzero'), check('met')])).toEqual(
      end('satisfied', 'recipe', true),
    );
  });
  test('S-T62 is not satisfied by exit code 0 alone: what a recipe claims is no evidence', () => {
    const steps = [check('unmet'), recipe('zero'), check('unmet')];
    expect(nextStep(plan({ policy: 'required', repairs: 0 }), steps)).toEqual(end('unmet', 'recipe', false));
  });
  test('runs the recipe when what the check needs does not exist yet', () => {
    expect(nextStep(plan(), [check('absent')])).toEqual({ do: 'recipe' });
  });
  test('says nothing when the first check broke, and runs no recipe', () => {
    expect(nextStep(plan(), [check('broken')])).toEqual(end('indeterminate', 'skip', null));
  });
  test.each(['absent', 'broken'] as const)('X18 never repairs on a check that was %s after the recipe', (result) => {
    expect(nextStep(plan(), [check('unmet'), recipe('zero'), check(result)])).toEqual(
      end('indeterminate', 'recipe', null),
    );
  });
});

describe('self-repair', () => {
  const failed = [check('unmet'), recipe('nonzero'), check('unmet')];
  test('asks for a corrected command when the recipe left the goal unmet', () => {
    expect(nextStep(plan(), failed)).toEqual({ do: 'propose' });
  });
  test('I-T05 runs the corrected command and is satisfied when the check then holds', () => {
    expect(nextStep(plan(), [...failed, proposed])).toEqual({ do: 'repair' });
    expect(nextStep(plan(), [...failed, proposed, repair('zero'), check('met')])).toEqual(
      end('satisfied', 'self_repair', true),
    );
  });
  test('ends at the recipe when nobody can correct it', () => {
    expect(nextStep(plan(), [...failed, declined])).toEqual(end('unmet', 'recipe', false));
  });
  test('I-T07 asks no one under policy required', () => {
    expect(nextStep(plan({ policy: 'required', repairs: 0 }), failed)).toEqual(end('unmet', 'recipe', false));
  });
  test('I-T09 ends unmet when every attempt is used', () => {
    const steps = [...failed, proposed, repair('nonzero'), check('unmet')];
    expect(nextStep(plan(), steps)).toEqual(end('unmet', 'self_repair', false));
  });
  test('tries again while attempts are left', () => {
    const steps = [...failed, proposed, repair('nonzero'), check('unmet')];
    expect(nextStep(plan({ repairs: 2 }), steps)).toEqual({ do: 'propose' });
  });
  test('S-T57 looks at what the last attempt left, also when its time was over', () => {
    expect(nextStep(plan(), [...failed, proposed, repair('timed_out')])).toEqual({ do: 'check', rung: 'self_repair' });
    expect(nextStep(plan(), [...failed, proposed, repair('timed_out'), check('met')])).toEqual(
      end('satisfied', 'self_repair', true),
    );
  });
  test('counts a denied correction as an attempt and checks nothing after it', () => {
    expect(nextStep(plan(), [...failed, proposed, repair('denied')])).toEqual(end('unmet', 'recipe', false));
  });
  test('may correct a denied recipe', () => {
    expect(nextStep(plan(), [check('unmet'), recipe('denied')])).toEqual({ do: 'propose' });
  });
});

describe('policy', () => {
  test('X34 lowers an unmet best-effort node to degraded', () => {
    const steps = [check('unmet'), recipe('nonzero'), check('unmet')];
    expect(nextStep(plan({ policy: 'best_effort', repairs: 0 }), steps)).toEqual(end('degraded', 'recipe', false));
  });
  test('never lowers a check that could not run', () => {
    const steps = [check('unmet'), recipe('zero'), check('broken')];
    expect(nextStep(plan({ policy: 'best_effort', repairs: 0 }), steps)).toMatchObject({ outcome: 'indeterminate' });
  });
});

describe('recipe without a postcondition', () => {
  const bare = plan({ hasPostcondition: false, policy: 'required', repairs: 0 });
  test('I-T10 is satisfied by exit code 0', () => {
    expect(nextStep(bare, [])).toEqual({ do: 'recipe' });
    expect(nextStep(bare, [recipe('zero')])).toEqual(end('satisfied', 'recipe', null));
  });
  test.each(['nonzero', 'timed_out', 'killed', 'not_started'] as const)('I-T11 is unmet when it ended %s', (result) => {
    expect(nextStep(bare, [recipe(result)])).toMatchObject({ outcome: 'unmet' });
  });
});

describe('gate', () => {
  const gate = plan({ kind: 'gate', hasPostcondition: false, policy: 'required', repairs: 0 });
  test('is its own check', () => {
    expect(nextStep(gate, [recipe('zero')])).toEqual(end('satisfied', 'recipe', true));
    expect(nextStep(gate, [recipe('nonzero')])).toEqual(end('unmet', 'recipe', false));
  });
  test.each(['timed_out', 'killed', 'not_started', 'denied'] as const)('says nothing when it was %s', (result) => {
    expect(nextStep(gate, [recipe(result)])).toMatchObject({ outcome: 'indeterminate' });
  });
  test('runs its recipe in a check run too', () => {
    expect(nextStep({ ...gate, runKind: 'check' }, [])).toEqual({ do: 'recipe' });
  });
});

describe('check run', () => {
  const checkRun = plan({ runKind: 'check' });
  test('runs the postcondition and nothing else', () => {
    expect(nextStep(checkRun, [])).toEqual({ do: 'check', rung: 'check' });
    expect(nextStep(checkRun, [check('unmet')])).toEqual(end('unmet', 'check', false));
    expect(nextStep(checkRun, [check('met')])).toEqual(end('satisfied', 'check', true));
    expect(nextStep(checkRun, [check('absent')])).toMatchObject({ outcome: 'indeterminate' });
  });
  test('is unmet when the postcondition looks at an output that no recipe has printed', () => {
    expect(nextStep({ ...checkRun, checksOutput: true }, [])).toEqual(end('unmet', 'check', false));
  });
  test('asks about the output of the run that it judges', () => {
    const judging = { ...checkRun, checksOutput: true, judges: 3 };
    expect(nextStep(judging, [])).toEqual({ do: 'check', rung: 'check' });
    expect(nextStep(judging, [check('met')])).toEqual(end('satisfied', 'check', true));
  });
  test('without a postcondition re-judges a satisfied run, or is unmet', () => {
    expect(nextStep({ ...checkRun, hasPostcondition: false, judges: 1 }, [])).toEqual(end('satisfied', 'check', null));
    expect(nextStep({ ...checkRun, hasPostcondition: false }, [])).toEqual(end('unmet', 'check', null));
  });
  test('without a postcondition takes the word of whoever attests, which is not what the executor judges', () => {
    const attested = { ...checkRun, attested: true };
    expect(nextStep({ ...attested, hasPostcondition: false }, [])).toEqual(end('satisfied', 'check', null));
    expect(nextStep(attested, [check('unmet')])).toEqual(end('unmet', 'check', false));
  });
});

interface Answer {
  readonly check: CheckResult;
  readonly command: CommandOutcome;
  readonly proposal: 'proposed' | 'declined';
  readonly agent: AgentOutcome;
}

describe('an agent run', () => {
  const worked: Step = { step: 'agent', result: 'worked' };
  const agent = (changes: Partial<Plan> = {}): Plan => plan({ runKind: 'agent', ...changes });

  test('begins with the agent, whatever holds already, and ends with the check', () => {
    expect(nextStep(agent(), [])).toEqual({ do: 'agent' });
    expect(nextStep(agent(), [worked])).toEqual({ do: 'check', rung: 'agent' });
    expect(nextStep(agent(), [worked, check('met')])).toEqual(end('satisfied', 'agent', true));
    expect(nextStep(agent(), [worked, check('unmet')])).toEqual(end('unmet', 'agent', false));
  });
  test('says nothing when the check could not run', () => {
    expect(nextStep(agent(), [worked, check('absent')])).toEqual(end('indeterminate', 'agent', null));
  });
  test('of a gate is judged by its own recipe', () => {
    const gate = agent({ kind: 'gate', hasPostcondition: false });
    expect(nextStep(gate, [worked])).toEqual({ do: 'recipe' });
    expect(nextStep(gate, [worked, recipe('zero')])).toEqual(end('satisfied', 'recipe', true));
    expect(nextStep(gate, [worked, recipe('nonzero')])).toEqual(end('unmet', 'recipe', false));
  });
  test('has no rung below it: no repair, no degraded end', () => {
    const gentle = agent({ policy: 'best_effort' });
    expect(nextStep(gentle, [worked, check('unmet')])).toEqual(end('unmet', 'agent', false));
  });
  test('that touched what judges it is not judged here', () => {
    const broken: Step = { step: 'agent', result: 'broken' };
    expect(nextStep(agent(), [broken])).toEqual(end('indeterminate', 'agent', null));
  });
  test('whose agent declined is still asked whether the goal is reached', () => {
    const declinedWork: Step = { step: 'agent', result: 'declined' };
    expect(nextStep(agent(), [declinedWork, check('met')])).toEqual(end('satisfied', 'skip', true));
  });
  test('ends when it is cancelled', () => {
    expect(nextStep(agent(), [{ step: 'agent', result: 'cancelled' }])).toEqual(end('cancelled', 'agent', null));
  });
});

describe('the agent of a ladder', () => {
  const worked: Step = { step: 'agent', result: 'worked' };
  const failed = [check('unmet'), recipe('nonzero'), check('unmet')];
  const repaired = [...failed, proposed, repair('zero'), check('unmet')];
  const withAgent = plan({ agents: 2 });

  test('I-T06 is tried when the repairs are used up, or none is proposed, and never without being allowed', () => {
    expect(nextStep(withAgent, failed)).toEqual({ do: 'propose' });
    expect(nextStep(withAgent, repaired)).toEqual({ do: 'agent' });
    expect(nextStep(withAgent, [...failed, declined])).toEqual({ do: 'agent' });
    expect(nextStep(plan(), repaired)).toEqual(end('unmet', 'self_repair', false));
  });
  test('is followed by the check, which decides', () => {
    expect(nextStep(withAgent, [...repaired, worked])).toEqual({ do: 'check', rung: 'agent' });
    expect(nextStep(withAgent, [...repaired, worked, check('met')])).toEqual(end('satisfied', 'agent', true));
    expect(nextStep(withAgent, [...repaired, worked, check('absent')])).toEqual(end('indeterminate', 'agent', null));
  });
  test('is tried as often as allowed, with no repair in between', () => {
    const once = [...failed, declined, worked, check('unmet')];
    expect(nextStep(withAgent, once)).toEqual({ do: 'agent' });
    expect(nextStep(withAgent, [...once, worked, check('unmet')])).toEqual(end('unmet', 'agent', false));
  });
  test('makes way for the recipe where the output is checked', () => {
    const ladder = plan({ agents: 1, repairs: 0, checksOutput: true });
    const steps = [recipe('zero'), check('unmet'), worked];
    expect(nextStep(ladder, steps)).toEqual({ do: 'recipe' });
    expect(nextStep(ladder, [...steps, recipe('zero')])).toEqual({ do: 'check', rung: 'recipe' });
  });
  test('ends the ladder when it declines, or touches what judges it', () => {
    expect(nextStep(withAgent, [...repaired, { step: 'agent', result: 'declined' }])).toEqual(
      end('unmet', 'self_repair', false),
    );
    expect(nextStep(withAgent, [...repaired, { step: 'agent', result: 'broken' }])).toEqual(
      end('indeterminate', 'agent', null),
    );
  });
});

describe('any ladder', () => {
  const results = fc.record({
    check: fc.constantFrom<CheckResult>('met', 'unmet', 'absent', 'broken'),
    command: fc.constantFrom<CommandOutcome>('zero', 'nonzero', 'timed_out', 'killed', 'not_started', 'denied'),
    proposal: fc.constantFrom<'proposed' | 'declined'>('proposed', 'declined'),
    agent: fc.constantFrom<AgentOutcome>('worked', 'declined', 'broken'),
  });
  const plans = fc.record({
    kind: fc.constantFrom<Plan['kind']>('action', 'gate', 'compute'),
    runKind: fc.constantFrom<Plan['runKind']>('normal', 'check', 'agent'),
    policy: fc.constantFrom<Plan['policy']>('required', 'recover', 'best_effort'),
    hasPostcondition: fc.boolean(),
    checksOutput: fc.boolean(),
    repairs: fc.nat(3),
    agents: fc.nat(2),
    judges: fc.constantFrom(null, 1),
    attested: fc.constant(false),
  });
  const answered = (step: Step['step'], answer: Answer): Step => {
    if (step === 'check') return check(answer.check);
    if (step === 'agent') return { step, result: answer.agent };
    return step === 'propose' ? { step, result: answer.proposal } : { step, result: answer.command };
  };
  const climb = (ladder: Plan, script: readonly Answer[]) => {
    const steps: Step[] = [];
    for (const answer of script) {
      const next: Next = nextStep(ladder, steps);
      if (next.do === 'finish') return { next, steps };
      steps.push(answered(next.do, answer));
    }
    return { next: nextStep(ladder, steps), steps };
  };

  test('ends, and is satisfied only on positive evidence of its own check', () => {
    fc.assert(
      fc.property(plans, fc.array(results, { minLength: 24, maxLength: 24 }), (ladder, script) => {
        const { next, steps } = climb(ladder, script);
        expect(next.do).toBe('finish');
        if (next.do !== 'finish' || next.outcome !== 'satisfied') return;
        const last = steps.at(-1);
        const reJudged = ladder.runKind === 'check' && ladder.judges !== null && steps.length === 0;
        expect(reJudged || last?.result === 'met' || (last?.step === 'recipe' && last.result === 'zero')).toBe(true);
      }),
    );
  });
  test('X17 runs the recipe once, and again only for an output after an agent, no more repairs than allowed, and checks before and after each', () => {
    fc.assert(
      fc.property(plans, fc.array(results, { minLength: 24, maxLength: 24 }), (ladder, script) => {
        const { steps } = climb(ladder, script);
        const agents = ladder.runKind === 'agent' ? 1 : ladder.agents;
        expect(steps.filter((step) => step.step === 'agent').length).toBeLessThanOrEqual(agents);
        const recipes = 1 + (ladder.checksOutput ? ladder.agents : 0);
        expect(steps.filter((step) => step.step === 'recipe').length).toBeLessThanOrEqual(recipes);
        expect(steps.filter((step) => step.step === 'repair').length).toBeLessThanOrEqual(ladder.repairs);
        const asked = (ladder.checksOutput ? 1 : 2) + ladder.repairs + ladder.agents;
        expect(steps.filter((step) => step.step === 'check').length).toBeLessThanOrEqual(asked);
        expect(steps.filter((step) => step.step === 'propose').length).toBeLessThanOrEqual(ladder.repairs);
      }),
      { numRuns: 2_000 },
    );
  });
});
