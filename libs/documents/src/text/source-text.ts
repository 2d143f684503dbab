import { Composer, type CST, type Document, isAlias, isMap, isScalar, isSeq, Lexer, LineCounter, Parser } from 'yaml';
import { type Diagnostic, type DiagnosticCode, diagnostic, type Position } from '../diagnostics.ts';
import { MAX_DEPTH, MAX_TEXT } from './limits.ts';
import { plainJson } from './plain-json.ts';
import { plainValue, ValueRefused } from './plain-value.ts';

/** Where a value stands in a document: keys and 0-based indexes from the top. */
export type ValuePath = readonly PropertyKey[];

/** A text that was read, and where everything in it stands. */
export interface SourceText {
  /** The document as JSON: only what JSON has, aliases written out. */
  readonly value: unknown;
  /** Place of the value at a path, of its key when asked for; of the nearest thing around it when there is none. */
  locate(path: ValuePath, of?: 'value' | 'key'): Position;
}

/** Product of aliases and what they stand for, as `yaml` counts it. */
const MAX_ALIASES = 100;
const START: Position = { line: 1, column: 1 };

export type ReadSource =
  | { readonly source: SourceText; readonly diagnostics: readonly [] }
  | { readonly source: null; readonly diagnostics: readonly Diagnostic[] };

/** Reads one YAML (1.2) or JSON document. Nothing of a text with errors is used. */
export const readSource = (text: string, maxText = MAX_TEXT): ReadSource => {
  if (text.length > maxText)
    return refuse(diagnostic('FX003', START, { message: `The text is larger than ${maxText} characters.` }));
  const value = plainJson(text);
  return value === undefined ? readYaml(text) : { source: lazilyPlaced(text, value), diagnostics: [] };
};

/** Places are only asked for when something is wrong; until then the text need not be read as YAML. */
const lazilyPlaced = (text: string, value: unknown): SourceText => {
  let read: ReadSource | null = null;
  return {
    value,
    locate: (path, of) => {
      read ??= readYaml(text);
      return read.source?.locate(path, of) ?? START;
    },
  };
};

/** A part of a document as a document of its own, with its places in the whole. */
export const sourceAt = (source: SourceText, path: ValuePath): SourceText => ({
  value: valueAt(source.value, path),
  locate: (below, of) => source.locate([...path, ...below], of),
});

/** What stands at a path; undefined when there is nothing. */
export const valueAt = (value: unknown, path: ValuePath): unknown =>
  path.reduce<unknown>(
    (inner, step) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, step) ? Reflect.get(inner, step) : undefined,
    value,
  );

const readYaml = (text: string): ReadSource => {
  const lines = new LineCounter();
  const tokens = tokensOf(text, lines);
  if (tokens === null) return refuse(diagnostic('FX005', lastPosition(lines)));
  const documents = [...new Composer({ intAsBigInt: true }).compose(tokens, true, text.length)];
  const document = documents[0];
  if (document === undefined || documents.length > 1) return refuse(diagnostic('FX007', START));
  const errors = errorsOf(document, lines);
  if (errors.length > 0) return { source: null, diagnostics: errors };
  if (document.contents === null) return refuse(diagnostic('FX007', START, { message: 'The document is empty.' }));
  return contentOf(document, lines);
};

const refuse = (found: Diagnostic): ReadSource => ({ source: null, diagnostics: [found] });

/** Null when the text nests too deep; told while reading, since the composer is recursive. */
const tokensOf = (text: string, lines: LineCounter): CST.Token[] | null => {
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  for (const lexeme of new Lexer().lex(text)) {
    tokens.push(...parser.next(lexeme));
    if (parser.stack.length > MAX_DEPTH + 2) return null;
  }
  tokens.push(...parser.end());
  return tokens;
};

const lastPosition = (lines: LineCounter): Position => ({ line: Math.max(1, lines.lineStarts.length), column: 1 });

const errorsOf = (document: Document.Parsed, lines: LineCounter): Diagnostic[] =>
  [...document.errors, ...document.warnings].map((error) =>
    diagnostic(CODES[error.code] ?? 'FX001', positionAt(lines, error.pos[0]), { message: firstLine(error.message) }),
  );

const CODES: Record<string, DiagnosticCode> = {
  DUPLICATE_KEY: 'FX002',
  TAG_RESOLVE_FAILED: 'FX008',
  BAD_ALIAS: 'FX006',
};

const firstLine = (message: string): string => message.split('\n', 1)[0] ?? message;

const positionAt = (lines: LineCounter, offset: number): Position => {
  const { line, col } = lines.linePos(offset);
  return line === 0 ? START : { line, column: col };
};

const contentOf = (document: Document.Parsed, lines: LineCounter): ReadSource => {
  const locate = (path: ValuePath, of: 'value' | 'key' = 'value'): Position =>
    positionAt(lines, offsetAt(document, path, of));
  try {
    const raw: unknown = document.toJS({ maxAliasCount: MAX_ALIASES, mapAsMap: true });
    return { source: { value: plainValue(raw, MAX_DEPTH), locate }, diagnostics: [] };
  } catch (error) {
    if (error instanceof ValueRefused)
      return refuse(diagnostic(error.code, locate(error.path), { message: error.message }));
    if (error instanceof ReferenceError) return refuse(diagnostic('FX006', START, { message: error.message }));
    throw error;
  }
};

/** Walks as far down the path as there is something. */
const offsetAt = (document: Document.Parsed, path: ValuePath, of: 'value' | 'key'): number => {
  let offset = offsetOf(document.contents) ?? 0;
  let node: unknown = document.contents;
  for (const [index, step] of path.entries()) {
    const child = childOf(isAlias(node) ? node.resolve(document) : node, step);
    if (child === null) return offset;
    const wantsKey = of === 'key' && index === path.length - 1;
    offset = (wantsKey ? undefined : offsetOf(child.value)) ?? offsetOf(child.key) ?? offset;
    node = child.value;
  }
  return offset;
};

const childOf = (node: unknown, step: PropertyKey): { key: unknown; value: unknown } | null => {
  if (isSeq(node)) return { key: null, value: node.items[Number(step)] };
  if (!isMap(node)) return null;
  const pair = node.items.find(({ key }) => (isScalar(key) ? String(key.value) : '') === String(step));
  return pair === undefined ? null : { key: pair.key, value: pair.value };
};

const offsetOf = (node: unknown): number | undefined => {
  if (typeof node !== 'object' || node === null || !('range' in node)) return undefined;
  const { range } = node;
  return Array.isArray(range) && typeof range[0] === 'number' ? range[0] : undefined;
};
