import { commandOf, type ModeSpec, type ValidatorSpec } from '@fixpoint/contracts/documents/protocol';
import type { Recipe } from '@fixpoint/contracts/documents/task';
import { CEL_VARIABLES, type CelPlace, celConstant, celProblem } from '../cel.ts';
import { acceptsEverything, jsonSchemaProblem } from '../json-schema-check.ts';
import { type NeverRecovers, whyNeverRecovers } from '../may-recover.ts';
import { isVacuous } from '../shell/vacuous.ts';
import { type Finding, found, under } from './finding.ts';
import type { KnownPrimitives } from './known-names.ts';
import { lintRecipe } from './lint-check.ts';
import { lintNumbers } from './lint-numbers.ts';
import { lintReport } from './lint-report.ts';

/** A check is asked about at the gate, before the recipe and after it; see docs/protocols.md (Command rules). */
const RUNGS_OF_CHECKS = ['check', 'skip', 'recipe'] as const;

/** A command that a protocol declares, as the executor will ask about it. */
export type DeclaredCommand =
  | { readonly rung: 'recipe' | (typeof RUNGS_OF_CHECKS)[number]; readonly text: string }
  | { readonly rung: 'recipe'; readonly script: string; readonly language: ScriptLanguage };
type ScriptLanguage = Extract<Recipe, { script: string }>['language'];

/** What a protocol is checked against. */
export interface ModeLintOptions {
  readonly knownPrimitives: KnownPrimitives;
  /** Id of the command rule that denies a command, or null; known to whoever runs commands. */
  readonly deniedBy: (rules: ModeSpec['command_rules'], command: DeclaredCommand) => string | null;
}

/** All rules for one mode of a protocol. */
export const lintMode = (mode: ModeSpec, options: ModeLintOptions): Finding[] => [
  ...(mode.pre.length === 0 ? [found('FX201', ['pre'])] : []),
  ...lintIds(mode),
  ...lintNumbers(mode),
  ...mode.command_rules.flatMap(({ deny }, index) => lintRule('command_rule', deny, ['command_rules', index, 'deny'])),
  ...mode.governance_rules.flatMap(({ deny }, index) =>
    lintRule('governance_rule', deny, ['governance_rules', index, 'deny']),
  ),
  ...mode.pre.flatMap((validator, index) =>
    under(['pre', index], [...lintPre(validator), ...lintReport(validator), ...lintVacuousCheck(validator)]),
  ),
  ...mode.post.flatMap((validator, index) =>
    under(
      ['post', index],
      [
        ...lintPost(validator),
        ...lintReport(validator),
        ...lintVacuousCheck(validator),
        ...lintFix(validator, mode, options),
      ],
    ),
  ),
];

const LISTS = ['pre', 'post', 'governance_rules', 'command_rules'] as const;

/** Verdicts and refusals name what spoke by its id alone, so ids are unique in a mode. */
const lintIds = (mode: ModeSpec): Finding[] => {
  const seen = new Set<string>();
  return LISTS.flatMap((list) =>
    mode[list].flatMap(({ id }, index) => {
      const isDuplicate = seen.has(id);
      seen.add(id);
      return isDuplicate ? [found('FX202', [list, index, 'id'], { message: `\`${id}\` stands twice.` })] : [];
    }),
  );
};

const lintRule = (place: CelPlace, deny: string, path: readonly PropertyKey[]): Finding[] => {
  const problem = celProblem(place, deny);
  if (problem === null) return [];
  const variables = Object.keys(CEL_VARIABLES[place]).join(', ');
  return [found('FX203', path, { message: `The CEL can not be used: ${problem}. Its variables are ${variables}.` })];
};

const lintPre = ({ check }: ValidatorSpec): Finding[] => {
  if ('document_schema' in check || 'command_rules' in check || commandOf(check) !== null) return [];
  const message = 'Before execution there is nothing that this check could look at: it belongs in post.';
  return [found('FX204', ['check'], { message })];
};

const lintPost = ({ check }: ValidatorSpec): Finding[] => {
  if ('document_schema' in check || 'command_rules' in check) {
    return [found('FX204', ['check'], { message: 'This check only makes sense before execution: it belongs in pre.' })];
  }
  if ('json_schema' in check) {
    const problem = jsonSchemaProblem(check.json_schema);
    return problem === null ? [] : [found('FX116', ['check', 'json_schema'], { message: `${problem}.` })];
  }
  const problem = 'cel' in check ? celProblem('validator', check.cel) : null;
  return problem === null ? [] : [found('FX115', ['check', 'cel'], { message: `${problem}.` })];
};

/** A check that says yes whatever it is shown, at its key. */
const lintVacuousCheck = ({ check }: ValidatorSpec): Finding[] => {
  const [key] = Object.keys(check);
  const saysYes =
    ('command' in check && isVacuous(check.command)) ||
    ('cel' in check && celConstant(check.cel) === true) ||
    ('json_schema' in check && acceptsEverything(check.json_schema));
  return saysYes && key !== undefined ? [found('FX208', ['check', key])] : [];
};

const WHY_UNUSED: Readonly<Record<NeverRecovers, Readonly<Record<'message' | 'hint', string>>>> = {
  capped: {
    message: 'The fix is never used: the cap makes a pass of everything that this validator says.',
    hint: 'Remove the fix, or the cap.',
  },
  halts: {
    message: 'The fix is never used: a blocker of this validator halts.',
    hint: 'Declare the validator overridable, or remove the fix.',
  },
  not_listed: {
    message: 'The fix is never used: recover_on does not have the severity of this validator.',
    hint: 'Name the severity in recover_on, or remove the fix.',
  },
  outvoted: {
    message: 'The fix is never used: the consensus is reached whatever this validator warns of.',
    hint: 'Choose a stricter consensus, make it an overridable blocker, or remove the fix.',
  },
};

/** Says what recovery would be about: a cap may have made a warning of a blocker. */
const withoutFix = ({ severity, severity_cap: cap }: ValidatorSpec): string => {
  const what =
    severity === 'warning' || cap === 'warning' ? 'A warning that recover_on names' : 'An overridable blocker';
  return `${what} without a fix: its recovery ends at once and a human is asked.`;
};

const lintFix = (validator: ValidatorSpec, mode: ModeSpec, options: ModeLintOptions): Finding[] => {
  const why = whyNeverRecovers(validator, mode);
  if (validator.fix === null) return why === null ? [found('FX206', ['id'], { message: withoutFix(validator) })] : [];
  return [
    ...under(['fix'], lintRecipe(validator.fix, options.knownPrimitives)),
    ...(why === null ? lintDenied(validator, mode, options) : [found('FX205', ['fix'], WHY_UNUSED[why])]),
  ];
};

/** A fix runs under the command rules, and so does the validator's own command, which is the check of the fix. */
const lintDenied = ({ check, fix }: ValidatorSpec, { command_rules: rules }: ModeSpec, options: ModeLintOptions) => {
  // A rule that can not be understood denies everything, and is complained of where it stands.
  if (rules.some(({ deny }) => celProblem('command_rule', deny) !== null)) return [];
  const recipe = fix === null ? null : recipeCommand(fix);
  const checks = 'command' in check ? RUNGS_OF_CHECKS.map((rung) => ({ rung, text: check.command })) : [];
  const denials = (key: string, commands: readonly DeclaredCommand[]): Finding[] => {
    const rule = commands.map((command) => options.deniedBy(rules, command)).find((denied) => denied !== null);
    const message = `The command rule \`${rule}\` denies this command.`;
    return rule === undefined ? [] : [found('FX209', [key], { message })];
  };
  return [...denials('fix', recipe === null ? [] : [recipe]), ...denials('check', checks)];
};

const recipeCommand = (recipe: Recipe): DeclaredCommand | null => {
  if ('command' in recipe) return { rung: 'recipe', text: recipe.command };
  if ('script' in recipe) return { rung: 'recipe', script: recipe.script, language: recipe.language };
  return null;
};
