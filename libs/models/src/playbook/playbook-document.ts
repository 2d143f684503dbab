import { scriptLanguageSchema } from '@fixpoint/contracts/documents/task';
import { z } from 'zod';

/** A pattern as `new RegExp(…, 'gm')` takes it. */
const patternSchema = z
  .string()
  .min(1)
  .refine((source) => compiles(source), 'not a regular expression');

const compiles = (source: string): boolean => {
  try {
    return new RegExp(source, 'gm') instanceof RegExp;
  } catch {
    return false;
  }
};

const oneOrMore = <Item extends z.ZodType>(item: Item) => z.union([item, z.array(item).min(1)]);

/** One step of a correction, applied to the text that the step before has left. */
const stepSchema = z.union([
  /**
   * Replaces every place of the command. In `with`, `$1` and `$<name>` are groups of `replace`; `{{name}}` is a named
   * group of `when`, used only when it is a plain word.
   */
  z.strictObject({ replace: patternSchema, with: z.string() }),
  /** Takes out the words of the command that the output lists, one a line, between two lines. */
  z.strictObject({
    drop_lines: z.strictObject({ of: z.enum(['stderr', 'stdout']), after: patternSchema, until: patternSchema }),
  }),
  /** Takes out the words that a named group `word` of this pattern found in the output. */
  z.strictObject({ drop_words: z.strictObject({ of: z.enum(['stderr', 'stdout']), match: patternSchema }) }),
  /**
   * Rewrites single commands of a shell text, wherever they stand, never what is quoted or in a here-document. `^` and `$`
   * are the ends of one command with its arguments; `{{name}}` is that word as it stands, here and in `as`.
   */
  z.strictObject({ rewrite: patternSchema, as: z.string() }),
  /** Puts a line before a shell text; `{{name}}` as in `with`. */
  z.strictObject({ before: z.string().min(1) }),
  /** Has another shell run the whole command. */
  z.strictObject({ wrap: z.literal('bash') }),
]);
export type PlaybookStep = z.infer<typeof stepSchema>;

const ruleSchema = z.strictObject({
  id: z.string().regex(/^[a-z][a-z0-9-]{0,62}$/),
  /** What goes wrong and why the correction is right; shown with every proposal. */
  reasoning: z.string().min(1),
  /** All must hold. A command that was killed has no exit code and is never recognised. */
  when: z.strictObject({
    exit_code: oneOrMore(z.int().min(0).max(255)).optional(),
    language: oneOrMore(scriptLanguageSchema).optional(),
    stderr: patternSchema.optional(),
    stdout: patternSchema.optional(),
    command: patternSchema.optional(),
    /** One command of the shell text is like this; `^` and `$` are its ends. */
    runs: patternSchema.optional(),
  }),
  correct: z.array(stepSchema).min(1),
});
export type PlaybookRule = z.infer<typeof ruleSchema>;

/** A playbook file: rules in the order in which they are tried. */
export const playbookDocumentSchema = z.strictObject({ kind: z.literal('playbook/v1'), rules: z.array(ruleSchema) });
