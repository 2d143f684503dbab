import type { DiagnosticCode } from '../diagnostics.ts';
import { closestWord } from '../text/closest-word.ts';
import type { ValuePath } from '../text/source-text.ts';
import { type Finding, found } from './finding.ts';

/** The robust operations that documents may use; what each takes is known to whoever runs them. */
export interface KnownPrimitives {
  readonly names: readonly string[];
  /** What is wrong with the parameters of one of them, one sentence each. */
  problems(name: string, parameters: unknown): readonly string[];
  /** Whether it changes something, and so is no check. */
  hasEffects?(name: string): boolean;
}

interface Name {
  readonly code: DiagnosticCode;
  readonly path: ValuePath;
  /** What it names: `primitive`. */
  readonly what: string;
  readonly name: string;
}

/** An unknown name, with what was probably meant and what there is. */
export const unknownName = ({ code, path, what, name }: Name, known: readonly string[]): Finding[] => {
  if (known.includes(name)) return [];
  const meant = closestWord(name, known);
  const message = `There is no ${what} \`${name}\`; there is: ${known.join(', ') || 'none'}.`;
  return [found(code, path, meant === null ? { message } : { message, hint: `Did you mean \`${meant}\`?` })];
};
