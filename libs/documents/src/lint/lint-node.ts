import { canonicalJson } from '@fixpoint/contracts/canonical-json';
import { AGENT_TOOL_NAMES } from '@fixpoint/contracts/documents/agent-tools';
import { type Check, checksOutput, isRemote, type NodeSpec, type Recipe } from '@fixpoint/contracts/documents/task';
import { sameCommand } from '../shell/same-command.ts';
import { type Finding, found, under } from './finding.ts';
import { type KnownPrimitives, unknownName } from './known-names.ts';
import { lintEffects, lintPostcondition, lintRecipe, lintVacuous } from './lint-check.ts';

/** What a node was written as, where its defaults hide it. */
export interface WrittenNode {
  /** Its recovery block names a bound above 0, a model or a tool. */
  readonly hasRecovery: boolean;
  readonly postconditionIsList: boolean;
  /** The last check of the postcondition is the `json_schema` of its outputs. */
  readonly hasOutputSchema: boolean;
  readonly hasOutputs: boolean;
}

export interface KnownNames {
  readonly knownPrimitives: KnownPrimitives;
  /** Null: any may be there. */
  readonly knownModels: readonly string[] | null;
  /** Models that can act as an agent; null: any may. */
  readonly knownAgents: readonly string[] | null;
}

/** All rules of the quad for one node. Source: docs/rules.md (Documents). */
export const lintNode = (node: NodeSpec, written: WrittenNode, known: KnownNames): Finding[] => [
  ...under(['recipe'], lintRecipe(node.recipe, known.knownPrimitives)),
  ...lintChecks(node, written, known),
  ...lintModel(node, known),
  ...lintAgent(node, known),
  ...lintRemote(node),
  ...lintKind(node, written, known),
];

const lintModel = ({ model: name }: NodeSpec, { knownModels }: KnownNames): Finding[] =>
  knownModels === null
    ? []
    : unknownName({ code: 'FX110', path: ['recovery', 'model'], what: 'model', name }, knownModels);

const lintAgent = (node: NodeSpec, { knownModels, knownAgents }: KnownNames): Finding[] => {
  const unknown = node.agent_tools.flatMap((name, index) =>
    unknownName({ code: 'FX129', path: ['recovery', 'agent_tools', index], what: 'tool', name }, AGENT_TOOL_NAMES),
  );
  if (node.max_agent_attempts === 0 || unknown.length > 0) return unknown;
  const at = ['recovery', 'max_agent_attempts'];
  if (node.agent_tools.length === 0) return [found('FX150', at, { message: 'The agent has no tool.' })];
  const isKnown = knownModels === null || knownModels.includes(node.model);
  return knownAgents === null || !isKnown || knownAgents.includes(node.model)
    ? []
    : [found('FX150', at, { message: `The model \`${node.model}\` can not act as an agent.` })];
};

/** Whoever does it elsewhere may say what it likes: without a check of ours its word would be the evidence. */
const lintRemote = ({ kind, recipe, postcondition }: NodeSpec): Finding[] =>
  kind !== 'gate' && isRemote(recipe) && postcondition === null ? [found('FX151', ['recipe'])] : [];

/** A compute node without a check of its output is told so once: its default policy would be a second mistake. */
const lintKind = (node: NodeSpec, written: WrittenNode, known: KnownNames): Finding[] => {
  if (node.kind === 'gate') return lintGate(node, written, known);
  if (node.kind === 'compute' && !checksOutput(node)) return [found('FX112', ['kind'])];
  return lintRecovery(node, written);
};

const lintChecks = ({ postcondition }: NodeSpec, written: WrittenNode, { knownPrimitives }: KnownNames): Finding[] => {
  const all = postcondition?.all ?? [];
  const checks = written.hasOutputSchema ? all.slice(0, -1) : all;
  const how = { isList: written.postconditionIsList, knownPrimitives };
  return [
    ...under(['postcondition'], lintPostcondition({ all: checks }, how)),
    ...under(['outputs'], lintPostcondition({ all: all.slice(checks.length) }, { ...how, isList: false })),
  ];
};

/** A gate is recipe and postcondition in one: nothing may repair it, and it must be able to say no. */
const lintGate = (node: NodeSpec, written: WrittenNode, { knownPrimitives }: KnownNames): Finding[] => [
  ...(written.hasOutputs ? [found('FX117', ['outputs'])] : []),
  ...(node.postcondition === null || written.hasOutputSchema ? [] : [found('FX117', ['postcondition'])]),
  ...lintGatePolicy(node.policy, written),
  ...under(['recipe'], lintGateRecipe(node.recipe, knownPrimitives)),
];

const lintGatePolicy = (policy: NodeSpec['policy'], { hasRecovery }: WrittenNode): Finding[] => {
  if (policy === 'best_effort') return [found('FX118', ['policy'])];
  const place = policy === 'recover' ? 'policy' : 'recovery';
  return policy === 'recover' || hasRecovery ? [found('FX105', [place], { message: 'Recovery on a gate.' })] : [];
};

const lintGateRecipe = (recipe: Recipe, knownPrimitives: KnownPrimitives): Finding[] => {
  if ('primitive' in recipe) return lintEffects(recipe, knownPrimitives);
  if ('command' in recipe) return lintVacuous(recipe.command, 'command');
  if (isRemote(recipe))
    return [found('FX151', [], { message: 'A gate is its own check, and this is done elsewhere.' })];
  return isShell(recipe) ? lintVacuous(recipe.script, 'script') : [];
};

const lintRecovery = (node: NodeSpec, written: WrittenNode): Finding[] => {
  const asks = node.policy === 'recover' || written.hasRecovery;
  const place = node.policy === 'recover' ? ['policy'] : ['recovery'];
  if (node.postcondition === null) return asks ? [found('FX104', place)] : [];
  if (asks && isItsOwnCheck(node)) {
    return [
      found('FX105', place, { message: 'The recipe is its own postcondition, so recovery would edit the verdict.' }),
    ];
  }
  return node.policy !== 'recover' && written.hasRecovery ? [found('FX106', ['recovery'])] : [];
};

/** Told by structure: a comment, a wrapper or other quoting does not hide it. */
const isItsOwnCheck = ({ recipe, postcondition }: NodeSpec): boolean =>
  postcondition?.all.every((check) => isSameAction(recipe, check)) ?? false;

const isSameAction = (recipe: Recipe, check: Check): boolean => {
  if ('primitive' in recipe) {
    return (
      'primitive' in check &&
      recipe.primitive === check.primitive &&
      canonicalJson(recipe.with) === canonicalJson(check.with)
    );
  }
  if (!('command' in check) || isRemote(recipe)) return false;
  if ('command' in recipe) return sameCommand(recipe.command, check.command);
  return isShell(recipe) && sameCommand(recipe.script, check.command);
};

const isShell = ({ language }: Extract<Recipe, { script: string }>): boolean =>
  language === 'sh' || language === 'bash';
