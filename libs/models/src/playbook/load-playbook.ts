import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Document, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { type PlaybookRule, playbookDocumentSchema } from './playbook-document.ts';

/** A playbook file that can not be used; the process should not start with it. The message names every place. */
export class PlaybookInvalid extends Error {
  override readonly name = 'PlaybookInvalid';
}

const SHIPPED = new URL('../../playbook/', import.meta.url);

/**
 * The rules of the given files, in their order, and then the shipped ones, by file name. A rule of a given file is so
 * tried before all shipped ones.
 * @param extraFiles paths of YAML files of kind `playbook/v1`.
 * @throws {PlaybookInvalid} naming file, line and column of everything that is wrong.
 */
export const loadPlaybook = (extraFiles: readonly string[] = []): PlaybookRule[] => {
  const shipped = readdirSync(SHIPPED)
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => fileURLToPath(new URL(name, SHIPPED)));
  const rules = [...extraFiles, ...shipped].flatMap((file) => parsePlaybook(readFileSync(file, 'utf8'), file));
  const ids = rules.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) < index);
  if (twice !== undefined) throw new PlaybookInvalid(`two playbook rules have the id ${twice}`);
  return rules;
};

/** The rules of one text. @throws {PlaybookInvalid} */
export const parsePlaybook = (text: string, file: string): PlaybookRule[] => {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const broken = document.errors.map(({ pos, message }) => `${at(pos[0])} ${message.split('\n', 1)[0]}`);
  if (broken.length > 0) throw new PlaybookInvalid(broken.join('\n'));
  const parsed = playbookDocumentSchema.safeParse(document.toJS());
  if (parsed.success) return parsed.data.rules;
  const issues = parsed.error.issues.map(
    ({ path, message }) => `${at(offsetOf(document, path))} ${path.join('.')}: ${message}`,
  );
  throw new PlaybookInvalid(issues.join('\n'));
};

/** Start of the value at a path, or of the nearest thing around it. */
const offsetOf = (document: Document, path: readonly PropertyKey[]): number => {
  let node: unknown = document.contents;
  let offset = 0;
  for (const step of path) {
    if (isMap(node)) node = node.items.find(({ key }) => isScalar(key) && key.value === step)?.value;
    else if (isSeq(node)) node = node.items[Number(step)];
    else return offset;
    offset = startOf(node) ?? offset;
  }
  return offset;
};

const startOf = (node: unknown): number | undefined =>
  isMap(node) || isSeq(node) || isScalar(node) ? node.range?.[0] : undefined;
