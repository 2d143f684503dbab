import { readdirSync, readFileSync } from 'node:fs';
import { parseProtocol } from '@fixpoint/documents/parse-protocol';
import { parseTask } from '@fixpoint/documents/parse-task';
import { printProtocol, printTask } from '@fixpoint/documents/print-task';
import { knownPrimitives } from '@fixpoint/execution/primitives/primitives';
import { deniedBy } from '@fixpoint/validation/command-rules';
import { describe, expect, test } from '@jest/globals';
import { kindOf, lintDocument } from './lint-document.ts';

const ROOT = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');
const listed = (folder: string, pattern: RegExp): string[] =>
  readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
    .filter((name) => pattern.test(name) && !/node_modules|dist/.test(name))
    .map((name) => `${folder}${name}`)
    .sort();

const isDocument = (text: string): boolean => ['task/v1', 'protocol/v1'].includes(String(kindOf(text)));

/** Whole documents that pages show, and those that ship. */
const inPages = ['README.md', ...listed('docs/', /\.md$/)].flatMap((page) =>
  [...read(page).matchAll(/^```ya?ml\n(.*?)^```/gms)]
    .map(([, text = ''], index) => [`${page}, block ${index + 1}`, text] as const)
    .filter(([, text]) => isDocument(text)),
);
const shipped = listed('examples/', /\.ya?ml$/).map((file) => [file, read(file)] as const);

describe('a document that people copy', () => {
  test('is found in pages and examples', () => {
    expect(inPages.length).toBeGreaterThanOrEqual(3);
    expect(shipped.length).toBeGreaterThanOrEqual(6);
  });

  test.each([...inPages, ...shipped])('is all right: %s', (_name, text) => {
    expect(lintDocument(text, null).diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  });

  test.each([...inPages, ...shipped])('reads as the same when it is printed: %s', (_name, text) => {
    const parsed = kindOf(text) === 'protocol/v1' ? parseProtocol(text, { knownPrimitives, deniedBy }).document : null;
    if (parsed !== null) {
      expect(parseProtocol(printProtocol(parsed), { knownPrimitives, deniedBy }).document).toEqual(parsed);
      return;
    }
    const { document } = parseTask(text);
    expect(document).not.toBeNull();
    if (document !== null) expect(parseTask(printTask(document)).document).toEqual(document);
  });
});
