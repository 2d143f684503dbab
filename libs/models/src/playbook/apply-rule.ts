import { rewriteCommands, simpleCommands } from '@fixpoint/documents/shell/simple-commands';
import type { FailedCommand, OutputEnds } from '../models.ts';
import { isLike, MAX_LOOKED_AT, matchesOf, replaceAll, replaceFirst } from './bounded-regex.ts';
import { dropWords } from './drop-words.ts';
import type { PlaybookRule, PlaybookStep } from './playbook-document.ts';

/** Both ends of an output as one text; the same text once when nothing was cut. */
const textOf = ({ head, tail }: OutputEnds): string =>
  (head === tail ? head : `${head}\n${tail}`).slice(0, MAX_LOOKED_AT);

type Captured = Readonly<Record<string, string | undefined>>;

/**
 * What a rule makes of a failed command; null when it does not recognise the failure or can not correct it.
 * @throws {PatternTooSlow}
 */
export const applyRule = (rule: PlaybookRule, failed: FailedCommand): string | null => {
  const captured = recognise(rule.when, failed);
  if (captured === null) return null;
  let command = failed.command;
  for (const step of rule.correct) {
    const corrected = applyStep(step, { command, failed, captured });
    if (corrected === null) return null;
    command = corrected;
  }
  return command === failed.command ? null : command;
};

/** Named groups of all patterns; null when one condition does not hold. */
const recognise = (when: PlaybookRule['when'], failed: FailedCommand): Captured | null => {
  if (failed.exitCode === null || !allows(when.exit_code, failed.exitCode)) return null;
  if (!allows(when.language, failed.language)) return null;
  const conditions = [
    [when.command, failed.command],
    [when.stderr, textOf(failed.stderr)],
    [when.stdout, textOf(failed.stdout)],
  ] as const;
  const captured: Record<string, string | undefined> = {};
  for (const [pattern, text] of conditions) {
    if (pattern === undefined) continue;
    const first = matchesOf(pattern, text)[0];
    if (first === undefined) return null;
    Object.assign(captured, first.groups);
  }
  return when.runs === undefined || runs(when.runs, failed) ? captured : null;
};

const allows = <Item>(allowed: Item | Item[] | undefined, value: Item): boolean =>
  allowed === undefined || (Array.isArray(allowed) ? allowed.includes(value) : allowed === value);

const isShell = ({ language }: FailedCommand): boolean => language === 'sh' || language === 'bash';

const runs = (pattern: string, failed: FailedCommand): boolean =>
  isShell(failed) && simpleCommands(failed.command).some(({ text }) => isLike(pattern, text));

interface Work {
  readonly command: string;
  readonly failed: FailedCommand;
  readonly captured: Captured;
}

const applyStep = (step: PlaybookStep, { command, failed, captured }: Work): string | null => {
  if ('replace' in step) {
    const replacement = fillIn(step.with, captured);
    return replacement === null ? null : replaceAll(step.replace, command, replacement);
  }
  if ('rewrite' in step || 'before' in step) {
    return isShell(failed) ? applyShellStep(step, command, captured) : null;
  }
  if ('wrap' in step) return `${step.wrap} -c ${singleQuoted(command)}`;
  if ('drop_words' in step) {
    const { of, match } = step.drop_words;
    return dropWords(
      command,
      matchesOf(match, textOf(failed[of])).map(({ groups }) => groups.word ?? ''),
    );
  }
  return dropWords(command, linesBetween(textOf(failed[step.drop_lines.of]), step.drop_lines));
};

type ShellStep = Extract<PlaybookStep, { rewrite: string } | { before: string }>;

const applyShellStep = (step: ShellStep, command: string, captured: Captured): string | null => {
  if ('before' in step) {
    const line = fillIn(step.before, captured);
    return line === null ? null : `${line}\n${command}`;
  }
  const pattern = fillIn(step.rewrite, captured, literally);
  const replacement = fillIn(step.as, captured);
  if (pattern === null || replacement === null) return null;
  return rewriteCommands(command, ({ text, hasPrefix }) => {
    const changed = replaceFirst(pattern, text, replacement);
    // Only a simple command may have assignments before it.
    return hasPrefix && changed.startsWith('{') ? text : changed;
  });
};

const literally = (word: string): string => word.replaceAll(/[.+]/g, '\\$&');

/** Words that mean the same to every shell and inside every quotes; anything else is output that nobody should splice. */
const PLAIN_WORD = /^[\w./@+,-]+$/;

const asItIs = (word: string): string => word;

const fillIn = (template: string, captured: Captured, written = asItIs): string | null => {
  let isPlain = true;
  const filled = template.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = captured[name] ?? '';
    isPlain &&= PLAIN_WORD.test(value);
    return written(value);
  });
  return isPlain ? filled : null;
};

const singleQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const linesBetween = (text: string, { after, until }: { after: string; until: string }): string[] => {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => matchesOf(after, line).length > 0);
  if (start < 0) return [];
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => line === '' || matchesOf(until, line).length > 0);
  return end < 0 ? rest : rest.slice(0, end);
};
