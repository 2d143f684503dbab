import { z } from 'zod';
import { type Diagnostic, type DiagnosticCode, diagnostic, type Position } from '../diagnostics.ts';
import { closestWord } from './closest-word.ts';
import { type SourceText, type ValuePath, valueAt } from './source-text.ts';

type Issue = z.core.$ZodIssue;

/** What one kind of document knows beyond its schema. */
export interface DocumentRules {
  readonly schema: z.ZodType;
  /** Keys that later versions have in this place; answered with FX190. */
  readonly laterKeys: (path: ValuePath) => readonly string[];
  /** A code of its own for an issue at a path; null for the general ones. */
  readonly codeOf: (path: ValuePath, value: unknown) => DiagnosticCode | null;
  /** Mappings whose key is the name of something: the code for a name that there is not, and all that there are. */
  readonly namesAt: (path: ValuePath) => { readonly code: DiagnosticCode; readonly names: readonly string[] } | null;
}

/** What a schema has against a document, each at its line. */
export const schemaDiagnostics = (source: SourceText, error: z.ZodError, rules: DocumentRules): Diagnostic[] => {
  const issues = error.issues.flatMap((issue) => flatten(issue, []));
  const later = issues.flatMap((issue) => laterAt(issue, rules));
  return issues
    .filter((issue) => !isConsequence(issue, later))
    .flatMap((issue) => diagnosticsOf(issue, { source, rules }))
    .sort((a, b) => a.line - b.line || a.column - b.column);
};

interface PlacedIssue {
  readonly issue: Issue;
  readonly path: ValuePath;
}

/** Of a union, only the variant that was meant: what it has against the union's own keys counts more than what is below. */
const flatten = (issue: Issue, above: ValuePath): PlacedIssue[] => {
  const path = [...above, ...issue.path];
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [{ issue, path }];
  const variants = issue.errors.map((errors) => errors.flatMap((inner) => flatten(inner, path)));
  return variants.reduce((best, variant) => (misfit(variant, path) < misfit(best, path) ? variant : best));
};

const misfit = (issues: readonly PlacedIssue[], union: ValuePath): number =>
  issues.reduce((sum, { issue, path }) => {
    const depth = path.length - union.length;
    if (issue.code === 'unrecognized_keys' && depth === 0) return sum + 1000 * issue.keys.length;
    return sum + (depth <= 1 ? 10 : 1);
  }, 0);

const laterAt = ({ issue, path }: PlacedIssue, rules: DocumentRules): string[] =>
  issue.code === 'unrecognized_keys' &&
  (rules.namesAt(path) !== null || issue.keys.some((key) => rules.laterKeys(path).includes(key)))
    ? [text(path)]
    : [];

/** A missing key beside a key of a later version, or beside an unknown name, is no second mistake. */
const isConsequence = ({ issue, path }: PlacedIssue, later: readonly string[]): boolean =>
  issue.code !== 'unrecognized_keys' && later.includes(text(path.slice(0, -1)));

const diagnosticsOf = (
  { issue, path }: PlacedIssue,
  where: { source: SourceText; rules: DocumentRules },
): Diagnostic[] => {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey([...path, key], where));
  const value = valueAt(where.source.value, path);
  const code = where.rules.codeOf(path, value);
  if (code === null && value === undefined) {
    return [diagnostic('FX012', where.source.locate(path), { message: `Missing key \`${text(path)}\`.` })];
  }
  const message = `\`${text(path)}\`: ${issue.message}`;
  return [diagnostic(code ?? 'FX013', where.source.locate(path), { message })];
};

const unknownKey = (path: ValuePath, { source, rules }: { source: SourceText; rules: DocumentRules }): Diagnostic => {
  const key = String(path.at(-1));
  const position = source.locate(path, 'key');
  if (rules.laterKeys(path.slice(0, -1)).includes(key)) {
    return diagnostic('FX190', position, { message: `\`${text(path)}\` is not in this version.` });
  }
  const named = rules.namesAt(path.slice(0, -1));
  if (named !== null) return unknownNameAt(key, position, named);
  const meant = closestWord(key, knownKeys(rules.schema));
  const hint = meant === null ? {} : { hint: `Did you mean \`${meant}\`?` };
  return diagnostic('FX011', position, { message: `Unknown key \`${text(path)}\`.`, ...hint });
};

const unknownNameAt = (
  name: string,
  position: Position,
  { code, names }: NonNullable<ReturnType<DocumentRules['namesAt']>>,
): Diagnostic => {
  const meant = closestWord(name, names);
  const message = `There is no \`${name}\`; there is: ${names.join(', ')}.`;
  return diagnostic(code, position, meant === null ? { message } : { message, hint: `Did you mean \`${meant}\`?` });
};

/** `nodes.0.recipe.command`; `document` for the whole. */
const text = (path: ValuePath): string => (path.length === 0 ? 'document' : path.map(String).join('.'));

const keysBySchema = new WeakMap<z.ZodType, string[]>();

/** All keys that the schema names anywhere. */
const knownKeys = (schema: z.ZodType): string[] => {
  const known = keysBySchema.get(schema);
  if (known) return known;
  const keys = new Set<string>();
  collectKeys(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }), keys);
  keysBySchema.set(schema, [...keys]);
  return [...keys];
};

const collectKeys = (schema: unknown, keys: Set<string>): void => {
  if (typeof schema !== 'object' || schema === null) return;
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties' && typeof value === 'object' && value !== null)
      for (const name of Object.keys(value)) keys.add(name);
    collectKeys(value, keys);
  }
};
