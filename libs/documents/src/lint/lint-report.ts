import type { ValidatorSpec } from '@fixpoint/contracts/documents/protocol';
import { type Finding, found, under } from './finding.ts';
import { lintShell } from './lint-check.ts';

/** A validator that reads a report: options that its format does not have, and a file that no command could leave. */
export const lintReport = ({ check }: ValidatorSpec): Finding[] => {
  if (!('report' in check)) return [];
  const { format, command, file, level } = check.report;
  const problems = [
    ...lintShell(command, 'command'),
    ...(level === undefined || format === 'sarif' ? [] : [found('FX211', ['level'], { message: noLevels(format) })]),
    ...(file === undefined || isBelow(file) ? [] : [found('FX211', ['file'], { message: NOT_BELOW })]),
  ];
  return under(['check', 'report'], problems);
};

const noLevels = (format: string): string => `A ${format} report has no levels: each failure counts.`;
const NOT_BELOW = 'The file is not below the home folder of the command.';

const isBelow = (path: string): boolean =>
  path.split('/').every((part) => !['', '.', '..'].includes(part) && !part.includes('\0'));
