import type { ModeSpec } from '@fixpoint/contracts/documents/protocol';
import {
  type Check,
  checksOutput,
  type NodeSpec,
  nodeSpecSchema,
  type Recipe,
} from '@fixpoint/contracts/documents/task';
import type { Rung } from '@fixpoint/contracts/events/executor-events';
import type { Finding } from '@fixpoint/contracts/verdict';
import { celProblem } from '@fixpoint/documents/cel';
import { jsonSchemaProblem } from '@fixpoint/documents/json-schema-check';
import { askCel, type CelAnswer } from './cel.ts';
import { evaluateCommandRules, type RuledCommand } from './command-rules.ts';
import type { ValidatorAnswer } from './verdict.ts';

const objection = (rule: string, message: string): Finding => ({
  rule,
  path: null,
  line: null,
  criterion: null,
  message,
});

const answerOf = (findings: readonly Finding[], passed: string): ValidatorAnswer =>
  findings.length === 0
    ? { answer: 'pass', justification: passed }
    : { answer: 'fail', justification: findings.map(({ message }) => message).join('\n'), findings };

/** Pre-validator `document_schema`: the node is one of its kind, has all its values, and its checks can be used. */
export const judgeDocument = (node: unknown): ValidatorAnswer => {
  const parsed = nodeSpecSchema.safeParse(node);
  if (!parsed.success) {
    const issues = parsed.error.issues.slice(0, 5);
    return answerOf(
      issues.map(({ path, message }) => objection('document_schema', `${path.join('.')}: ${message}`)),
      '',
    );
  }
  const checks = (parsed.data.postcondition?.all ?? []).flatMap(problemsOf);
  return answerOf([...kindProblems(parsed.data), ...checks], 'the node is well formed');
};

/** What lint refuses, refused again of the very node that is to run: a gate that may be repaired would prove nothing. */
const kindProblems = (node: NodeSpec): Finding[] => {
  const { kind, postcondition, policy, max_repair_attempts: repairs } = node;
  const isBareCheck = postcondition === null && policy === 'required' && repairs === 0;
  return [
    ...(kind === 'gate' && !isBareCheck ? [objection('gate', 'a gate has no postcondition, policy or repair')] : []),
    ...(kind === 'compute' && !checksOutput(node)
      ? [objection('compute', 'a compute node has a check of its output')]
      : []),
    ...(node.templated === undefined ? [] : [objection('templated', 'a reference of the node has no value yet')]),
  ];
};

const problemsOf = (check: Check): Finding[] => {
  if ('cel' in check) return named('cel', celProblem('check', check.cel));
  return 'json_schema' in check ? named('json_schema', jsonSchemaProblem(check.json_schema)) : [];
};

const named = (rule: string, problem: string | null): Finding[] => (problem === null ? [] : [objection(rule, problem)]);

/** Pre-validator `command_rules`: what the node is declared to run may run. The executor asks again before each command. */
export const judgeCommandRules = (
  node: Pick<NodeSpec, 'recipe' | 'postcondition'>,
  { command_rules }: Pick<ModeSpec, 'command_rules'>,
): ValidatorAnswer => {
  if (command_rules.length === 0) return answerOf([], 'no command rules');
  const rulings = declaredCommands(node).map((command) => evaluateCommandRules(command_rules, command));
  const findings = rulings.flatMap((ruling) => (ruling.denied ? [objection(ruling.rule, ruling.message)] : []));
  return answerOf(findings, 'no command rule objects');
};

const declaredCommands = ({ recipe, postcondition }: Pick<NodeSpec, 'recipe' | 'postcondition'>): RuledCommand[] => [
  ...recipeCommand(recipe, 'recipe'),
  ...(postcondition?.all ?? []).flatMap((check): RuledCommand[] =>
    'command' in check ? [{ text: check.command, rung: 'check' }] : [],
  ),
];

const recipeCommand = (recipe: Recipe, rung: Rung): RuledCommand[] => {
  if ('command' in recipe) return [{ text: recipe.command, rung }];
  return 'script' in recipe ? [{ script: recipe.script, language: recipe.language, rung }] : [];
};

/** A governance rule's answer, with what its verdict needs. */
export interface GovernanceAnswer {
  readonly rule: ModeSpec['governance_rules'][number];
  readonly answer: ValidatorAnswer;
}

const limitMs = 1000;

/** Asks the governance rules of a mode, in order. A rule that gives no answer is an error: it must not be passed by. */
export const judgeGovernance = (
  { governance_rules: rules }: Pick<ModeSpec, 'governance_rules'>,
  values: { readonly task: unknown; readonly node: unknown },
): readonly GovernanceAnswer[] => {
  if (rules.length === 0) return [];
  const question = {
    place: 'governance_rule',
    expressions: rules.map(({ deny }) => deny),
    values: [values],
    limitMs,
  } as const;
  const [answers = []] = askCel(question);
  return rules.map((rule, at) => ({ rule, answer: governanceAnswer(rule, answers[at]) }));
};

const governanceAnswer = (rule: GovernanceAnswer['rule'], said: CelAnswer | undefined): ValidatorAnswer => {
  if (said?.outcome !== 'answered') {
    return { answer: 'error', justification: `${rule.id} gives no answer: ${said?.detail ?? 'not asked'}` };
  }
  return answerOf(
    said.holds ? [objection(rule.id, rule.message || `${rule.id} denies this run`)] : [],
    'does not apply',
  );
};
