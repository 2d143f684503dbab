import type { Json } from '../json.ts';
import type { Check, NodeSpec, Recipe } from './task.ts';

/** What a `${{ … }}` names. `path` are keys of objects and 0-based indexes of lists. */
export type Reference =
  | { readonly of: 'input'; readonly path: readonly [string, ...string[]] }
  | { readonly of: 'output'; readonly node: string; readonly path: readonly string[] }
  /** `satisfied`, `degraded` or `skipped`. */
  | { readonly of: 'outcome'; readonly node: string };

/** One `${{ reference ?? default }}`. */
export interface Placeholder {
  /** As written between the braces. */
  readonly text: string;
  readonly reference: Reference;
  /** What stands there when the reference has no value; undefined where the document says nothing. */
  readonly fallback: Json | undefined;
}

/** A text in its parts: what is kept as it is, what is filled in, and what looks like a placeholder and is none. */
export type TemplatePart = string | Placeholder | { readonly unreadable: string };

const OPENING = '${{';

const SEGMENT = '[A-Za-z0-9_-]+';
const REFERENCE = String.raw`inputs(?:\.${SEGMENT})+|nodes\.${SEGMENT}\.(?:outcome|output(?:\.${SEGMENT})*)`;
const LITERAL = String.raw`"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null|\[\]|\{\}`;
const PLACEHOLDER = new RegExp(
  String.raw`\$\{\{\s*(?<text>(?<reference>${REFERENCE})(?:\s*\?\?\s*(?<fallback>${LITERAL}))?)\s*\}\}`,
  'y',
);

/** Whether any text in a value has something that is filled in or looks so. Asked of every document, so nothing is made. */
export const holdsPlaceholder = (value: unknown): boolean => {
  if (typeof value === 'string') return value.includes(OPENING);
  if (typeof value !== 'object' || value === null) return false;
  for (const key in value) if (holdsPlaceholder(Reflect.get(value, key))) return true;
  return false;
};

/**
 * The parts of a text, in order. `$${{` stands for `${{` itself. What is filled in is never looked at again, so a value
 * with braces in it stays what it is.
 */
export const templateParts = (text: string): TemplatePart[] => {
  const parts: TemplatePart[] = [];
  let from = 0;
  for (let at = text.indexOf(OPENING); at !== -1; at = text.indexOf(OPENING, from)) {
    const isEscaped = at > from && text[at - 1] === '$';
    parts.push(text.slice(from, isEscaped ? at - 1 : at));
    const read = isEscaped ? { part: OPENING, length: OPENING.length } : placeholderAt(text, at);
    parts.push(read.part);
    from = at + read.length;
  }
  return [...parts, text.slice(from)].filter((part) => part !== '');
};

const placeholderAt = (text: string, at: number): { part: TemplatePart; length: number } => {
  PLACEHOLDER.lastIndex = at;
  const match = PLACEHOLDER.exec(text);
  const fallback = literalOf(match?.groups?.fallback);
  if (match === null || fallback === 'unreadable') return unreadableAt(text, at);
  const { text: inner = '', reference = '' } = match.groups ?? {};
  const value = fallback === 'none' ? undefined : fallback.value;
  return { part: { text: inner, reference: referenceOf(reference), fallback: value }, length: match[0].length };
};

const unreadableAt = (text: string, at: number): { part: TemplatePart; length: number } => {
  const end = text.indexOf('}}', at);
  const length = end === -1 ? text.length - at : end + 2 - at;
  return { part: { unreadable: text.slice(at, at + length) }, length };
};

/** An integer that can not be kept exactly is none: no event would take it. */
const literalOf = (text: string | undefined): { readonly value: Json } | 'none' | 'unreadable' => {
  if (text === undefined) return 'none';
  try {
    const value = JSON.parse(text) as Json;
    return typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER ? 'unreadable' : { value };
  } catch {
    return 'unreadable';
  }
};

/** @param text that the grammar has let through. */
const referenceOf = (text: string): Reference => {
  const [root, name = '', what, ...path] = text.split('.');
  if (root === 'inputs') return { of: 'input', path: [name, ...(what === undefined ? [] : [what, ...path])] };
  return what === 'outcome' ? { of: 'outcome', node: name } : { of: 'output', node: name, path };
};

/** What stands at a path of a JSON value; undefined when there is nothing. */
export const valueAt = (value: Json, path: readonly string[]): Json | undefined =>
  path.reduce<Json | undefined>((inner, step) => valueBelow(inner, step), value);

const valueBelow = (value: Json | undefined, step: string): Json | undefined => {
  if (Array.isArray(value)) return /^\d+$/.test(step) ? value[Number(step)] : undefined;
  return typeof value === 'object' && value !== null && Object.hasOwn(value, step) ? value[step] : undefined;
};

/** A change of every text that may hold a `${{ … }}`. */
export interface TemplatedTexts {
  /** The goal and the variables: whatever is filled in becomes text. `place` as in the document. */
  text(text: string, place: readonly (string | number)[]): string;
  /** A text of a `with`: a lone placeholder keeps the type of its value. */
  value(text: string, place: readonly (string | number)[]): Json;
}

/**
 * The node with every text that may hold a `${{ … }}` changed: the goal, the variables, and the parameters of primitives
 * and workers.
 * Commands, scripts and expressions are none of these: data reaches them as variables and is never part of their text.
 */
export const mapTemplates = (node: NodeSpec, change: TemplatedTexts): NodeSpec => ({
  ...node,
  goal: change.text(node.goal, ['goal']),
  recipe: mapWith(node.recipe, change, ['recipe']),
  postcondition: node.postcondition && {
    all: node.postcondition.all.map((check, index) => mapWith(check, change, ['postcondition', 'all', index])),
  },
  env: Object.fromEntries(Object.entries(node.env).map(([name, text]) => [name, change.text(text, ['env', name])])),
});

const mapWith = <Step extends Recipe | Check>(
  step: Step,
  change: TemplatedTexts,
  place: readonly (string | number)[],
): Step => {
  if (!('with' in step)) return step;
  const parameters = Object.entries(step.with).map(
    ([key, value]) => [key, mapJson(value, change, [...place, 'with', key])] as const,
  );
  return { ...step, with: Object.fromEntries(parameters) };
};

const mapJson = (value: Json, change: TemplatedTexts, place: readonly (string | number)[]): Json => {
  if (typeof value === 'string') return change.value(value, place);
  if (Array.isArray(value)) return value.map((item, index) => mapJson(item, change, [...place, index]));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, mapJson(inner, change, [...place, key])]),
  );
};

/** Whether any text of the node that may hold a `${{ … }}` holds one. */
export const isTemplated = ({ goal, recipe, postcondition, env }: NodeSpec): boolean =>
  holdsPlaceholder(goal) ||
  holdsPlaceholder(env) ||
  isTemplatedStep(recipe) ||
  (postcondition?.all.some(isTemplatedStep) ?? false);

const isTemplatedStep = (step: Recipe | Check): boolean => 'with' in step && holdsPlaceholder(step.with);

/** How a value stands in the middle of a text: texts as they are, null as nothing, anything else as JSON. */
export const textOfValue = (value: Json): string => {
  if (typeof value === 'string') return value;
  return value === null ? '' : JSON.stringify(value);
};
