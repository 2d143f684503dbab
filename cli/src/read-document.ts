import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Context } from './context.ts';
import { EXIT, Exit } from './exit-codes.ts';
import { allOf } from './pages.ts';

export interface FileText {
  /** As given; `-` is standard input. */
  readonly file: string;
  readonly text: string;
  /** Absolute: what paths in the document are relative to. */
  readonly folder: string;
}

/** Reads a document. @throws {Exit} when there is none, or it is not text. */
export const readDocument = async (file: string, { cwd, stdin }: Context): Promise<FileText> => {
  const bytes = file === '-' ? Buffer.concat(await allOf(stdin)) : await bytesOf(file, cwd);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { file, text, folder: file === '-' ? cwd : dirname(resolve(cwd, file)) };
  } catch (cause) {
    throw Object.assign(new Exit(EXIT.badInput, `${file} is not UTF-8 text`), { cause });
  }
};

const bytesOf = async (file: string, cwd: string): Promise<Uint8Array> => {
  try {
    return await readFile(resolve(cwd, file));
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
    const why = REASONS[code] ?? String(error);
    throw new Exit(EXIT.badInput, `${file} can't be read: ${why}`);
  }
};

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'no right to read it',
};
