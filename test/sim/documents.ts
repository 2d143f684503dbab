import type { Json } from '@fixpoint/contracts/json';
import { AGENT } from '../world/foundations.ts';
import type { Choices } from './choices.ts';
import { isStormy } from './storms.ts';

type Fields = Readonly<Record<string, Json>>;

/** A task and the protocol of its project. */
export interface RandomTask {
  readonly name: string;
  readonly task: Fields;
  readonly protocol: Fields | null;
}

/** Draws parts of documents: ordinary ones first, everything else as the seed says. */
interface Draw {
  among<Option>(key: string, options: readonly [Option, ...Option[]], share?: number): Option;
  isSkipped(key: string): boolean;
}

const drawOf = (choices: Choices, name: string): Draw => ({
  among: (key, options, share = 0.7) =>
    options[
      options.length === 1 ? 0 : choices.pick('document', `${name}.${key}`, { share, options: options.length - 1 })
    ] ?? options[0],
  isSkipped: (key) => choices.happens('skipped', `${name}.${key}`, 0.08),
});

const red = { recipe: { command: 'echo red > colour' }, postcondition: { command: 'grep -q red colour' } };

/** What a node does, and how it goes; `id` keeps what they count apart. */
const works = (id: string): readonly [Fields, ...Fields[]] => [
  red,
  { recipe: red.recipe },
  { ...red, recipe: { command: `flaky ${id} 1 && echo red > colour` } },
  { ...red, recipe: { command: 'echo blue > colour' } },
  { ...red, recipe: { command: `echo tried >> ${id}.log` } },
  { recipe: { command: `echo tried >> ${id}.log` }, postcondition: { command: `lines ${id}.log 2` } },
  { ...red, recipe: { command: 'sleep 20 && echo red > colour' } },
  { ...red, postcondition: { command: `missing ${id} 2 && grep -q red colour` } },
  { ...red, postcondition: { command: `missing ${id} 99 && grep -q red colour` } },
  { recipe: { primitive: 'counter', with: { to: 3 } }, postcondition: { primitive: 'counter-at', with: { value: 3 } } },
  {
    recipe: { command: "git add -A -- . ':!__pycache__' && git commit -q -m deps" },
    postcondition: { command: 'test -f committed' },
    policy: 'recover',
    recovery: { max_repair_attempts: 1 },
  },
  { recipe: { command: `flaky ${id} 99` } },
  { kind: 'gate', recipe: { command: `flaky ${id} 1` } },
  { ...red, recipe: { command: `submit ${id}-part && echo red > colour` } },
  { kind: 'compute', recipe: { command: `echo '{"n": 1}'` }, postcondition: { cel: 'output.n == 1' } },
];

const CONDITIONAL: Fields = { ...red, if: 'size(inputs) > 0' };

const policyOf = (draw: Draw, key: string, work: Fields): Fields => {
  if (work.kind === 'gate' || work.policy !== undefined || work.postcondition === undefined) return {};
  return draw.among<Fields>(
    `${key}.policy`,
    [{}, { policy: 'best_effort' }, { policy: 'recover', recovery: { max_repair_attempts: 2 } }],
    0.3,
  );
};

const nodeOf = (draw: Draw, name: string, index: number): Fields => {
  const key = `node${index}`;
  const work = draw.among(key, [...works(`${name}-${index}`), ...(index > 0 ? [CONDITIONAL] : [])]);
  const condition = index > 0 && draw.isSkipped(key) ? { if: 'size(inputs) > 0' } : {};
  return { id: key, goal: `${key} of ${name}`, ...work, ...condition, ...policyOf(draw, key, work) };
};

const validators = (id: string): readonly [Fields | null, ...(Fields | null)[]] => [
  null,
  { id, check: { command: `test -f ${id}` }, overridable: true, fix: { command: `echo yes > ${id}` } },
  { id, check: { command: `lines ${id}.log 3` }, overridable: true, fix: { command: `echo tried >> ${id}.log` } },
  { id, check: { command: `test -f ${id}` }, overridable: true, fix: { command: 'echo tried >> attempts.log' } },
  { id, check: { command: `test -f ${id}` }, overridable: true, fix: { command: 'test -f colour' } },
  { id, check: { command: `test -f ${id}` }, overridable: true },
  { id, check: { command: 'grep -q blue colour' }, overridable: true, fix: { command: 'echo blue > colour' } },
  { id, check: { command: `test -f ${id}` }, severity: 'warning' },
  { id, check: { command: `missing ${id} 2` }, overridable: true },
  { id, check: { command: `missing ${id} 99` }, overridable: true },
  { id, check: { command: `flaky ${id} 1` }, overridable: true, on: 'task' },
  { id, check: { command: `test -f ${id}` } },
];

/** What is asked before a run: some warn, some object, some can not be asked. */
const PRE: readonly Fields[] = [
  { id: 'ready', check: { command: 'test -f ready' }, severity: 'warning' },
  { id: 'ready', check: { command: 'flaky ready 2' }, severity: 'warning' },
  { id: 'ready', check: { command: 'test -f ready' }, overridable: true },
  { id: 'ready', check: { command: 'flaky ready 1' } },
  { id: 'ready', check: { command: 'missing ready 2' }, overridable: true },
];

const NO_SLEEP = { id: 'no-sleep', deny: 'program == "sleep"', message: 'Nobody sleeps here.' };
const NO_GATES = { id: 'no-gates', deny: 'node.kind == "gate"', message: 'Nothing is gated here.' };

const HANDOFFS: readonly [Fields, ...Fields[]] = [
  {},
  { handoff_expiry: '2h', handoff_on_expiry: 'retry' },
  { handoff_expiry: '20m', handoff_on_expiry: 'abandon' },
  { handoff_expiry: '30m' },
];

const modeOf = (draw: Draw): Fields => {
  const post = ['sealed', 'signed'].flatMap((id) => draw.among(id, validators(id), 0.4) ?? []);
  const pre = draw.among<Fields | null>('pre', [null, ...PRE], 0.15);
  return {
    post,
    ...(pre === null ? {} : { pre: [pre] }),
    ...draw.among<Fields>('consensus', [{}, { consensus: 'quorum' }, { consensus: 'any' }], 0.2),
    ...draw.among<Fields>('agent', [{}, { auto_agent_model: AGENT }], 0.3),
    ...draw.among<Fields>('rules', [{}, { command_rules: [NO_SLEEP] }, { governance_rules: [NO_GATES] }], 0.1),
    ...draw.among<Fields>('handoffs', HANDOFFS, 0.3),
    ...draw.among<Fields>('recover_on', [{}, { recover_on: ['blocker', 'warning'] }], 0.2),
    bounds: draw.among<Fields>(
      'bounds',
      [
        { iterations: 10, faults: 3, max_total_fix_attempts: 5 },
        {},
        { max_recovery_depth: 1, max_total_fix_attempts: 2 },
        { execute: 1, judge: 1, iterations: 3 },
        { faults: 1, indeterminate: 1 },
        { deadline: '10m' },
        { iterations: 2, max_recovery_depth: 0 },
        { max_total_fix_attempts: 0 },
        { deadline: '30s' },
        { max_money_micros: 100_000, run_money_micros: 50_000 },
        { max_total_decomposition_children: 2 },
        { max_decomposition_depth: 1, integrate: 1, max_recompose_attempts: 2 },
      ],
      0.4,
    ),
  };
};

/** What a part does: most write a file of their own, some clash with the others, some never get anywhere. */
const partWorks = (id: string): readonly [Fields, ...Fields[]] => [
  { recipe: { command: `echo yes > ${id}` }, postcondition: { command: `test -f ${id}` } },
  { recipe: { command: `echo ${id} > shared && echo yes > ${id}` }, postcondition: { command: `test -f ${id}` } },
  { recipe: { command: `flaky ${id} 1 && echo yes > ${id}` }, postcondition: { command: `test -f ${id}` } },
  { recipe: { command: `echo tried >> ${id}.log` }, postcondition: { command: `test -f ${id}` } },
  { recipe: { command: `sleep 30 && echo yes > ${id}` }, postcondition: { command: `test -f ${id}` } },
  { recipe: { command: `echo no > ${id}.try` }, postcondition: { command: `test -f ${id}` }, policy: 'best_effort' },
  { recipe: { command: `missing ${id} 1` }, postcondition: { command: `grep -q ${id} shared` } },
];

const partOf = (draw: Draw, name: string, deep: boolean): Fields => {
  const inner = deep && draw.among(`${name}.parts`, [false, true], 0.25);
  const work = draw.among(`${name}.work`, partWorks(name));
  return {
    ...{ name, goal: `${name} is there`, nodes: [{ id: 'make', goal: `make ${name}`, ...work }] },
    ...(inner ? { parts: partsOf(draw, `${name}-`, false) } : {}),
  };
};

const partsOf = (draw: Draw, prefix: string, deep: boolean): Json => {
  const names = draw.among(
    `${prefix}parts`,
    [
      ['a', 'b'],
      ['a', 'b', 'c'],
    ],
    0.3,
  );
  return names.map((name) => partOf(draw, `${prefix}${name}`, deep));
};

/** Too big for one unit: only its parts get anywhere, and only together are they what was asked for. */
const tooBig = (draw: Draw, name: string): Fields => ({
  nodes: [
    {
      ...{ id: 'whole', goal: `${name} as a whole`, recipe: { command: 'echo tried >> whole.log' } },
      postcondition: draw.among<Fields>(
        'whole',
        [
          { command: `test -f ${name}-a && test -f ${name}-b` },
          { command: 'test -f nowhere' },
          { command: 'lines whole.log 9' },
        ],
        0.3,
      ),
    },
  ],
  parts: partsOf(draw, `${name}-`, true),
});

const fromGit = (name: string): Fields => ({ git: { url: `https://git.invalid/${name}`, ref: 'main' } });

const MOST_NODES = 3;

/** A task under a protocol of its own; the same for the same seed and name. */
export const randomTask = (choices: Choices, name: string): RandomTask => {
  const draw = drawOf(choices, name);
  const count = draw.among('nodes', [1, 2, MOST_NODES], 0.5);
  const nodes = Array.from({ length: count }, (_, index) => nodeOf(draw, name, index));
  const priority = draw.among('priority', [0, 5, -5], 0.2);
  const git = draw.among<Fields>(
    'source',
    [
      isStormy(choices) ? { workspace: fromGit(name) } : {},
      { workspace: fromGit(name) },
      { workspace: fromGit(name), deliver: { branch: `fixpoint/${name}` } },
    ],
    0.3,
  );
  const isTooBig = draw.among('size', [false, true], 0.3);
  const mode = draw.among('protocol', [true, false], 0.2) ? modeOf(draw) : null;
  return {
    name,
    task: { project: name, goal: `All of ${name}`, priority, ...git, ...(isTooBig ? tooBig(draw, name) : { nodes }) },
    protocol: mode === null ? null : { project: name, modes: { build: mode } },
  };
};
