import { type CelPlace, celEnvironment } from '@fixpoint/documents/cel';
import { TypeError as CelTypeError, type Environment, EvaluationError, ParseError } from '@marcbachmann/cel-js';
import { boundedCache } from './bounded-cache.ts';
import { TimeLimitPassed, withinLimit } from './time-limit.ts';

export type CelAnswer =
  | { readonly outcome: 'answered'; readonly holds: boolean }
  /** The expression is wrong whatever it is asked about: it does not parse, has a type error, or yields no boolean. */
  | { readonly outcome: 'wrong_expression'; readonly detail: string }
  /** It cannot be answered of these values (a key is missing, a type does not fit). Values are not repeated. */
  | { readonly outcome: 'no_answer'; readonly detail: string }
  | { readonly outcome: 'timed_out'; readonly detail: string };

type Compiled =
  | { readonly outcome: 'compiled'; readonly run: (values: Record<string, unknown>) => unknown }
  | Extract<CelAnswer, { outcome: 'wrong_expression' }>;

const compilerOf = (place: CelPlace) => {
  const environment = celEnvironment(place);
  return boundedCache<Compiled>(512, (expression) => compile(environment, expression));
};

const compilers = {
  check: compilerOf('check'),
  validator: compilerOf('validator'),
  command_rule: compilerOf('command_rule'),
  governance_rule: compilerOf('governance_rule'),
  condition: compilerOf('condition'),
} satisfies Record<CelPlace, unknown>;

const compile = (environment: Environment, expression: string): Compiled => {
  try {
    const run = environment.parse(expression);
    const { valid, type, error } = run.check();
    if (!valid) return wrong(error?.summary ?? 'type error');
    if (type !== 'bool' && type !== 'dyn') return wrong(`yields ${type}, not a boolean`);
    return { outcome: 'compiled', run };
  } catch (error) {
    if (error instanceof ParseError || error instanceof CelTypeError) return wrong(error.summary);
    throw error;
  }
};

const wrong = (detail: string): Extract<CelAnswer, { outcome: 'wrong_expression' }> => ({
  outcome: 'wrong_expression',
  detail,
});

export interface CelQuestion {
  readonly place: CelPlace;
  readonly expressions: readonly string[];
  /** Each expression is asked of each of these. */
  readonly values: readonly Readonly<Record<string, unknown>>[];
  /** For all of it together. */
  readonly limitMs: number;
}

/** One row per set of values, with one answer per expression. Compiled once and kept. Never throws for what a document says. */
export const askCel = ({ place, expressions, values, limitMs }: CelQuestion): readonly (readonly CelAnswer[])[] => {
  const compiled = expressions.map(compilers[place]);
  const answers: CelAnswer[] = [];
  let late: CelAnswer | null = null;
  try {
    withinLimit(limitMs, () => {
      for (const single of values) answers.push(...compiled.map((expression) => answer(expression, single)));
    });
  } catch (error) {
    if (!(error instanceof TimeLimitPassed)) throw error;
    late = { outcome: 'timed_out', detail: error.message };
  }
  return values.map((_, row) =>
    expressions.map((__, column) => answers[row * expressions.length + column] ?? late ?? unasked),
  );
};

const unasked: CelAnswer = { outcome: 'no_answer', detail: 'not asked' };

/** One expression about one set of values. */
export const askCelOnce = (
  place: CelPlace,
  expression: string,
  { values, limitMs }: { readonly values: Readonly<Record<string, unknown>>; readonly limitMs: number },
): CelAnswer => askCel({ place, expressions: [expression], values: [values], limitMs })[0]?.[0] ?? unasked;

const answer = (compiled: Compiled, values: Readonly<Record<string, unknown>>): CelAnswer => {
  if (compiled.outcome !== 'compiled') return compiled;
  try {
    const holds = compiled.run(values);
    return typeof holds === 'boolean' ? { outcome: 'answered', holds } : wrong('yields no boolean');
  } catch (error) {
    if (error instanceof EvaluationError) return { outcome: 'no_answer', detail: `${error.code} ${placeOf(error)}` };
    throw error;
  }
};

/** The part of the expression that failed. The library's message is left out: it may repeat a value. */
const placeOf = ({ node, range }: EvaluationError): string => {
  const text = range === undefined ? '' : (node?.input.slice(range.start, range.end) ?? '');
  return text === '' ? 'in the expression' : `in \`${text}\``;
};
