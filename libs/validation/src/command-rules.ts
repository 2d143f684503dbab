import type { CommandRule } from '@fixpoint/contracts/documents/protocol';
import type { Recipe } from '@fixpoint/contracts/documents/task';
import type { Rung } from '@fixpoint/contracts/events/executor-events';
import {
  argvCommands,
  type ShellCommand,
  type ShellCommands,
  shellCommands,
} from '@fixpoint/documents/shell/shell-command';
import { askCel, type CelAnswer } from './cel.ts';

/** What is about to be run, in one of the three forms a program has. */
export type RuledCommand = { readonly rung: Rung } & (
  | { readonly text: string }
  | { readonly argv: readonly string[] }
  | { readonly script: string; readonly language: Extract<Recipe, { script: string }>['language'] }
);

export type CommandRuling =
  | { readonly denied: false }
  /** `rule`: id in the protocol, or `unreadable_command`. `message`: for people. */
  | { readonly denied: true; readonly rule: string; readonly message: string };

/** Rule id of a command that cannot be parsed: what cannot be read cannot be allowed. */
const UNREADABLE_COMMAND = 'unreadable_command';

const limitMs = 1000;

/**
 * Whether a mode's command rules let a command run. Every command in it is asked of every rule; the first rule that
 * denies one, in the order of the rules, is named. A rule that cannot be evaluated denies. Without rules nothing is
 * parsed and everything may run.
 */
export const evaluateCommandRules = (rules: readonly CommandRule[], command: RuledCommand): CommandRuling => {
  if (rules.length === 0) return { denied: false };
  const parsed = commandsOf(command);
  if (!parsed.readable) {
    return { denied: true, rule: UNREADABLE_COMMAND, message: `the command cannot be read: ${parsed.problem}` };
  }
  const rulings = askCel({
    place: 'command_rule',
    expressions: rules.map(({ deny }) => deny),
    values: parsed.commands.map((single) => ({ ...single, rung: command.rung })),
    limitMs,
  });
  for (const [at, rule] of rules.entries()) {
    const denial = rulings.map((answers) => answers[at]).find(isDenial);
    if (denial !== undefined) return { denied: true, rule: rule.id, message: messageOf(rule, denial) };
  }
  return { denied: false };
};

/** Id of the rule that denies a command, or null: what lint asks about commands that a protocol itself declares. */
export const deniedBy = (rules: readonly CommandRule[], command: RuledCommand): string | null => {
  const ruling = evaluateCommandRules(rules, command);
  return ruling.denied ? ruling.rule : null;
};

const commandsOf = (command: RuledCommand): ShellCommands => {
  if ('text' in command) return shellCommands(command.text);
  if ('argv' in command) return argvCommands(command.argv);
  if (command.language === 'sh' || command.language === 'bash') return shellCommands(command.script);
  return { readable: true, commands: [foreignScript(command.language, command.script)] };
};

/** Code of another language is not looked into: rules see its interpreter and its text. */
const foreignScript = (program: string, text: string): ShellCommand => ({
  program,
  args: [],
  paths: [],
  network: false,
  dynamic: true,
  text,
});

const isDenial = (answer: CelAnswer | undefined): boolean =>
  answer === undefined || answer.outcome !== 'answered' || answer.holds;

const messageOf = (rule: CommandRule, answer: CelAnswer | undefined): string =>
  answer === undefined || answer.outcome === 'answered'
    ? rule.message
    : `${rule.id} cannot be evaluated: ${answer.detail}`;
