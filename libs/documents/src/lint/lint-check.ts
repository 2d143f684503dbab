import { type Check, isRemote, type Postcondition, type Recipe } from '@fixpoint/contracts/documents/task';
import { CEL_VARIABLES, celConstant, celProblem } from '../cel.ts';
import { acceptsEverything, jsonSchemaProblem } from '../json-schema-check.ts';
import { parseShell } from '../shell/parse-shell.ts';
import { isVacuous } from '../shell/vacuous.ts';
import { type Finding, found, under } from './finding.ts';
import { type KnownPrimitives, unknownName } from './known-names.ts';

/** What of a recipe is wrong whatever it is for. */
export const lintRecipe = (recipe: Recipe, knownPrimitives: KnownPrimitives): Finding[] => {
  if ('command' in recipe) return lintShell(recipe.command, 'command');
  if ('primitive' in recipe) return lintPrimitive(recipe, knownPrimitives);
  if (isRemote(recipe)) return [];
  if (recipe.script.trim() === '') return [found('FX113', ['script'], { message: 'The script is empty.' })];
  return recipe.language === 'sh' || recipe.language === 'bash' ? lintShell(recipe.script, 'script') : [];
};

/** Every check of a postcondition; a lone check stands at the postcondition itself. */
export const lintPostcondition = (
  postcondition: Postcondition,
  { isList, knownPrimitives }: { isList: boolean; knownPrimitives: KnownPrimitives },
): Finding[] =>
  postcondition.all.flatMap((check, index) => under(isList ? ['all', index] : [], lintCheck(check, knownPrimitives)));

const lintCheck = (check: Check, knownPrimitives: KnownPrimitives): Finding[] => {
  if ('command' in check) return [...lintShell(check.command, 'command'), ...lintVacuous(check.command, 'command')];
  if ('primitive' in check) return [...lintPrimitive(check, knownPrimitives), ...lintEffects(check, knownPrimitives)];
  return 'cel' in check ? lintCel(check.cel) : lintSchema(check.json_schema);
};

/** A shell text that can not be what was meant, at its key. */
export const lintShell = (text: string, key: string): Finding[] => {
  if (text.trim() === '') return [found('FX113', [key])];
  const parsed = parseShell(text);
  return parsed.readable ? [] : [found('FX119', [key], { message: `The shell can not parse it: ${parsed.problem}.` })];
};

/** A shell text that proves nothing, at its key. */
export const lintVacuous = (text: string, key: string): Finding[] =>
  text.trim() !== '' && isVacuous(text) ? [found('FX108', [key])] : [];

/** A check that changes something would bring about what it is asked for. */
export const lintEffects = (
  { primitive }: Extract<Recipe, { primitive: string }>,
  known: KnownPrimitives,
): Finding[] =>
  known.hasEffects?.(primitive) === true
    ? [found('FX142', ['primitive'], { message: `\`${primitive}\` changes something; only a check may stand here.` })]
    : [];

const lintPrimitive = (use: Extract<Recipe, { primitive: string }>, known: KnownPrimitives): Finding[] => {
  const { primitive: name, with: parameters } = use;
  const unknown = unknownName({ code: 'FX109', path: ['primitive'], what: 'primitive', name }, known.names);
  if (unknown.length > 0) return unknown;
  return known
    .problems(name, parameters)
    .map((said) => found('FX013', ['primitive'], { message: `${name}: ${said}.` }));
};

const lintCel = (text: string): Finding[] => {
  const problem = celProblem('check', text);
  if (problem !== null) {
    const variables = Object.keys(CEL_VARIABLES.check).join(', ');
    return [
      found('FX115', ['cel'], { message: `The CEL can not be used: ${problem}. Its variables are ${variables}.` }),
    ];
  }
  const constant = celConstant(text);
  if (constant === null) return [];
  const message = constant ? 'The expression is true whatever the node puts out.' : 'The expression can never be true.';
  return [found('FX108', ['cel'], { message })];
};

const lintSchema = (schema: Record<string, unknown>): Finding[] => {
  const problem = jsonSchemaProblem(schema);
  if (problem !== null)
    return [found('FX116', ['json_schema'], { message: `The JSON Schema can not be used: ${problem}.` })];
  if (!acceptsEverything(schema)) return [];
  return [found('FX108', ['json_schema'], { message: 'The JSON Schema accepts every output there is.' })];
};
