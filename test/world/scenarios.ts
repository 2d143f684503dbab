import type { Json } from '@fixpoint/contracts/json';
import type { Scenario } from './scenario.ts';

const red = { recipe: { command: 'echo red > colour' }, postcondition: { command: 'grep -q red colour' } };

const judged = (post: Json, rest: Readonly<Record<string, Json>> = {}) => ({ build: { post, ...rest } });

/** An overridable validator whose command is its check. */
const fixable = (id: string, command: string, fix: string) => ({
  id,
  check: { command },
  overridable: true,
  fix: { command: fix },
});

const scenario = (
  name: string,
  { task, modes, ...rest }: Omit<Scenario, 'name' | 'protocol'> & { modes?: Json },
): Scenario => ({
  name,
  task: { project: name, ...task },
  ...(modes === undefined ? {} : { protocol: { project: name, modes } }),
  ...rest,
});

/** Every way to end that this version has, each under its own project. */
export const scenarios: readonly Scenario[] = [
  scenario('counts-in-process', {
    task: {
      recipe: { primitive: 'counter', with: { to: 3 } },
      postcondition: { primitive: 'counter-at', with: { value: 3 } },
    },
    end: { status: 'satisfied', runs: 1 },
  }),
  scenario('one-node', { task: red, end: { status: 'satisfied', runs: 1 } }),
  scenario('exit-code-only', { task: { recipe: red.recipe }, end: { status: 'satisfied', runs: 1 } }),
  scenario('unmet-then-met', {
    task: { ...red, recipe: { command: 'flaky paint 1 && echo red > colour' } },
    end: { status: 'satisfied', runs: 2 },
  }),
  scenario('self-repair', {
    task: {
      recipe: { command: "git add -A -- . ':!__pycache__' && git commit -q -m deps" },
      postcondition: { command: 'test -f committed' },
      policy: 'recover',
      recovery: { max_repair_attempts: 1 },
    },
    end: { status: 'satisfied', runs: 1 },
  }),
  scenario('two-nodes', {
    task: {
      nodes: [
        { id: 'paint', goal: 'It is red', ...red },
        {
          id: 'tell',
          goal: 'It is told',
          recipe: { command: 'cat colour > told' },
          postcondition: { command: 'grep -q red told' },
        },
      ],
    },
    end: { status: 'satisfied', runs: 2 },
  }),
  scenario('passes-data', {
    task: {
      inputs: { colour: 'red' },
      goal: `All is $\{{ inputs.colour }}`,
      nodes: [
        {
          id: 'mix',
          kind: 'compute',
          recipe: { command: `git add -A -- . ':!_cache' && echo '{"shade": "dark"}'` },
          outputs: { json_schema: { type: 'object', required: ['shade'], properties: { shade: { type: 'string' } } } },
        },
        {
          id: 'paint',
          goal: `It is $\{{ nodes.mix.output.shade }} $\{{ inputs.colour }}`,
          env: { SHADE: `$\{{ nodes.mix.output.shade }}`, COLOUR: `$\{{ inputs.colour }}` },
          recipe: { command: 'echo "$SHADE" "$COLOUR" > colour' },
          postcondition: { command: 'grep -q "$SHADE" colour' },
        },
        { id: 'frame', if: "inputs.colour == 'blue'", recipe: { command: 'echo frame > frame' } },
        {
          id: 'hang',
          kind: 'gate',
          env: { FRAME: `$\{{ nodes.frame.outcome }}` },
          recipe: { command: 'echo "$FRAME" && grep -q dark colour' },
        },
      ],
    },
    end: { status: 'satisfied', runs: 3 },
  }),
  scenario('lacks-data', {
    task: {
      nodes: [
        { id: 'mix', recipe: { command: "echo '{}'" } },
        { id: 'paint', env: { SHADE: `$\{{ nodes.mix.output.shade }}` }, ...red },
      ],
    },
    end: { status: 'human', haltType: 'data', runs: 1 },
  }),
  scenario('degrades-and-goes-on', {
    task: {
      nodes: [
        {
          id: 'mix',
          kind: 'compute',
          policy: 'best_effort',
          recipe: { command: "echo 'no idea'" },
          postcondition: { cel: "output.shade == 'dark'" },
        },
        { id: 'paint', env: { SHADE: `$\{{ nodes.mix.output.shade ?? "plain" }}` }, ...red },
      ],
    },
    end: { status: 'degraded', runs: 2 },
  }),
  scenario('gate-says-no', {
    task: {
      nodes: [
        { id: 'paint', ...red },
        { id: 'hang', kind: 'gate', recipe: { command: 'grep -q blue colour' } },
      ],
    },
    end: { status: 'human', haltType: 'unmet', runs: 3 },
  }),
  scenario('gives-up-gracefully', {
    task: { ...red, recipe: { command: 'echo blue > colour' }, policy: 'best_effort' },
    end: { status: 'degraded', runs: 1 },
  }),
  scenario('takes-its-time', {
    task: { ...red, recipe: { command: 'sleep 100 && echo red > colour' } },
    end: { status: 'satisfied', runs: 1 },
  }),
  scenario('one-fix', {
    task: red,
    modes: judged([fixable('sealed', 'test -f sealed', 'echo yes > sealed')]),
    end: { status: 'satisfied', fixAttempts: 1, depth: 1, runs: 3 },
  }),
  scenario('two-validators', {
    task: red,
    modes: judged([
      fixable('sealed', 'test -f sealed', 'echo yes > sealed'),
      fixable('signed', 'test -f signed', 'echo yes > signed'),
    ]),
    end: { status: 'satisfied', fixAttempts: 1, depth: 1, runs: 4 },
  }),
  scenario('nested-fix', {
    task: red,
    modes: judged([fixable('tried', 'lines attempts.log 3', 'echo tried >> attempts.log')]),
    end: { status: 'satisfied', fixAttempts: 3, depth: 3, runs: 7 },
  }),
  scenario('too-deep', {
    task: red,
    modes: judged([fixable('sealed', 'test -f sealed', 'echo tried >> attempts.log')]),
    end: { status: 'human', haltType: 'recovery_exhausted', fixAttempts: 3, depth: 3, runs: 5 },
  }),
  scenario('tug-of-war', {
    task: { ...red, recipe: { command: 'echo red > colour && echo red >> history.log' } },
    modes: judged([fixable('blue', 'grep -q blue colour', 'echo blue > colour')]),
    end: { status: 'human', haltType: 'recovery_exhausted', fixAttempts: 10, depth: 1, runs: 32 },
  }),
  scenario('standstill', {
    task: red,
    modes: judged([fixable('sealed', 'test -f sealed', 'test -f colour')]),
    end: { status: 'human', haltType: 'recovery_stalled', fixAttempts: 1, depth: 1, runs: 3 },
  }),
  scenario('hard-blocker', {
    task: red,
    modes: judged([{ id: 'approved', check: { command: 'test -f approved' } }]),
    end: { status: 'blocked', haltType: 'blocker', runs: 1 },
  }),
  scenario('warns', {
    task: red,
    modes: judged([{ id: 'approved', check: { command: 'test -f approved' }, severity: 'warning' }]),
    end: { status: 'human', haltType: 'escalate', runs: 1 },
  }),
  scenario('outvoted', {
    task: red,
    modes: judged(
      [
        { id: 'approved', check: { command: 'test -f approved' }, severity: 'warning' },
        { id: 'painted', check: { command: 'test -f colour' } },
      ],
      { consensus: 'quorum' },
    ),
    end: { status: 'satisfied', runs: 1 },
  }),
  scenario('no-quorum', {
    task: red,
    modes: judged(
      [
        { id: 'approved', check: { command: 'test -f approved' }, severity: 'warning' },
        { id: 'sealed', check: { command: 'test -f sealed' }, severity: 'warning' },
      ],
      { consensus: 'quorum' },
    ),
    end: { status: 'human', haltType: 'escalate', runs: 1 },
  }),
  scenario('no-fix', {
    task: red,
    modes: judged([{ id: 'approved', check: { command: 'test -f approved' }, overridable: true }]),
    end: { status: 'human', haltType: 'recovery_exhausted', runs: 2 },
  }),
  scenario('denied', {
    task: { ...red, recipe: { command: 'rm -rf colour' } },
    modes: judged([], { command_rules: [{ id: 'no-rm', deny: 'program == "rm"', message: 'nothing is deleted' }] }),
    end: { status: 'blocked', haltType: 'blocker', runs: 1 },
  }),
  scenario('never-met', {
    task: { ...red, recipe: { command: 'echo tried >> attempts.log' } },
    end: { status: 'human', haltType: 'unmet', runs: 3 },
  }),
  scenario('check-comes-back', {
    task: { ...red, postcondition: { command: 'missing checker 3 && grep -q red colour' } },
    end: { status: 'satisfied', runs: 3 },
  }),
  scenario('network-comes-back', {
    task: { ...red, workspace: { git: { url: 'https://git.invalid/colours', ref: 'main' } } },
    outages: { 'https://git.invalid/colours': 2 },
    end: { status: 'satisfied', runs: 3 },
  }),
  scenario('executor-is-lost', {
    task: { ...red, recipe: { command: 'crash executor && echo red > colour' } },
    end: { status: 'satisfied', runs: 2 },
  }),
];

export const scenarioNamed = (name: string): Scenario => {
  const found = scenarios.find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no scenario ${name}`);
  return found;
};
