import type { Finding } from '@fixpoint/contracts/verdict';
import { lintSource } from '@secretlint/core';
import { rules } from '@secretlint/secretlint-rule-preset-recommend';
import type { AddedLines } from './added-lines.ts';

// The rule that lets a comment in the scanned text switch the scan off is left out.
const config = {
  rules: rules
    .filter(({ meta }) => !meta.id.endsWith('-filter-comments'))
    .map((rule) => ({
      id: rule.meta.id,
      rule,
      options: rule.meta.id.endsWith('-rule-aws') ? { enableIDScanRule: true } : {},
    })),
};

/** UTF-16 units that are scanned at once; the event loop is free in between. */
const pieceLength = 512 * 1024;
/** Units of the end of a piece that the next one sees again: longer than any key. */
const overlap = 16 * 1024;

/** Rule of a finding for what was not scanned. */
export const UNSCANNED_RULE = 'unscanned';
const mostUnits = 64 * 1024 * 1024;

/**
 * Credentials among added lines, by the rules of secretlint; no network. Findings name rule, path and line and never
 * repeat what was found. Sorted. Beyond 64 Mi units the rest is a finding of its own: what was not looked at is not clean.
 */
export const scanForSecrets = async (files: readonly AddedLines[]): Promise<Finding[]> => {
  const findings: Finding[] = [];
  let room = mostUnits;
  for (const file of files) {
    const text = sparseText(file);
    room -= text.length;
    findings.push(...(room < 0 ? [unscanned(file)] : await scanFile(file, text)));
  }
  const unique = new Map(findings.map((finding) => [keyOf(finding), finding]));
  return [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, finding]) => finding);
};

const keyOf = ({ path, line, rule }: Finding): string => `${path}\0${String(line).padStart(10, '0')}\0${rule}`;

const unscanned = ({ path, lines }: AddedLines): Finding => ({
  rule: UNSCANNED_RULE,
  path,
  line: lines[0]?.number ?? null,
  criterion: null,
  message: 'too much was added to be scanned for secrets',
});

/** The added lines as text; an empty line stands where lines in between were not added. */
const sparseText = ({ lines }: AddedLines): string =>
  lines.map(({ number, text }, at) => (at > 0 && lines[at - 1]?.number !== number - 1 ? `\n${text}` : text)).join('\n');

/** Text in UTF-16 or UTF-32 has zero bytes beside every letter of a credential; others stand between two texts. */
const readingsOf = (text: string): string[] => {
  if (!text.includes('\0')) return [text];
  return [text, text.replaceAll('\0', ''), text.replaceAll(/\0+/g, (run) => (run.length === 1 ? '' : ' '))];
};

const scanFile = async (file: AddedLines, text: string): Promise<Finding[]> => {
  const findings: Finding[] = [];
  for (const reading of readingsOf(text)) findings.push(...(await scanText(file, reading)));
  return findings;
};

const scanText = async (file: AddedLines, text: string): Promise<Finding[]> => {
  const numbers = lineNumbers(file);
  const findings: Finding[] = [];
  let from = 0;
  let linesBefore = 0;
  for (let end = pieceLength; from < text.length; end += pieceLength) {
    for (const { ruleId, messageId, loc } of await scanPiece(file.path, text.slice(from, end))) {
      const line = numbers[linesBefore + loc.start.line - 1] ?? null;
      findings.push(findingOf(`${shortName(ruleId)}/${messageId}`, file.path, line));
    }
    const next = end < text.length ? end - overlap : text.length;
    linesBefore += text.slice(from, next).split('\n').length - 1;
    from = next;
  }
  return findings;
};

/** Number in the file for each line of the sparse text. */
const lineNumbers = ({ lines }: AddedLines): number[] =>
  lines.flatMap(({ number }, at) => (at > 0 && lines[at - 1]?.number !== number - 1 ? [number, number] : [number]));

const scanPiece = async (path: string, content: string) => {
  const source = { filePath: path, content, ext: path.slice(path.lastIndexOf('.')), contentType: 'text' } as const;
  const { messages } = await lintSource({ source, options: { config, maskSecrets: true, noPhysicFilePath: true } });
  return [...messages, ...shortKeys(content)];
};

// secretlint passes over bodies as short as those of Ed25519 keys.
const shortKey = /-----BEGIN (?:[A-Z0-9]{1,16} )?PRIVATE KEY-----\s+[A-Za-z0-9+/=\s]{40,400}?-----END/g;

const shortKeys = (content: string) =>
  [...content.matchAll(shortKey)].map(({ index }) => ({
    ruleId: '@secretlint/secretlint-rule-privatekey',
    messageId: 'PrivateKey',
    loc: { start: { line: content.slice(0, index).split('\n').length } },
  }));

const shortName = (ruleId: string): string => ruleId.replace(/^@secretlint\/secretlint-rule-/, '');

const findingOf = (rule: string, path: string, line: number | null): Finding => ({
  rule,
  path,
  line,
  criterion: null,
  message: `looks like a secret (${rule})`,
});
