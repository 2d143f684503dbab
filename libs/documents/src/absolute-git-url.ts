import { resolve } from 'node:path';
import { isMap, isScalar, parseDocument } from 'yaml';
import { isRelativeGitUrl } from './lint-task.ts';

const URL_PATH = ['workspace', 'git', 'url'];
const ON_ONE_LINE = new Set(['PLAIN', 'QUOTE_SINGLE', 'QUOTE_DOUBLE']);

/**
 * The document with a relative `workspace.git.url` made absolute against the folder of its file; all else stays as it
 * was, byte by byte, so that what is said about lines of the result is true of the file. Text that is no document
 * comes back unchanged: whoever parses it says what is wrong.
 */
export const withAbsoluteGitUrl = (text: string, folder: string): string => {
  const document = parseDocument(text);
  if (document.errors.length > 0 || !isMap(document.contents)) return text;
  const url = document.getIn(URL_PATH, true);
  if (!isScalar(url) || typeof url.value !== 'string' || !isRelativeGitUrl(url.value)) return text;
  if (!ON_ONE_LINE.has(url.type ?? '') || !url.range) return text;
  // JSON's quotes are YAML's too.
  const absolute = JSON.stringify(resolve(folder, url.value));
  return text.slice(0, url.range[0]) + absolute + text.slice(url.range[1]);
};
