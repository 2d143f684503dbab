import { ApiError, UnexpectedAnswer, Unreachable } from '@fixpoint/client/api-error';
import type { Diagnostic } from '@fixpoint/contracts/rest/errors';
import { ConfigError } from '@fixpoint/runtime/settings';
import { CommanderError } from 'commander';
import { EXIT, Exit } from './exit-codes.ts';

/** How a command failed, for the process and for people. */
export interface Failure {
  readonly code: number;
  /** One sentence and what belongs to it; empty when everything has been said already. */
  readonly text: string;
}

/** What any error of a command means. */
export const failureOf = (error: unknown): Failure => {
  if (error instanceof CommanderError) return usage(error);
  if (error instanceof Exit) return { code: error.code, text: withHint(error.message, error.hint) };
  if (error instanceof ApiError) return refusal(error);
  if (error instanceof Unreachable) return { code: EXIT.unreachable, text: withHint(error.message, START_ONE) };
  if (error instanceof UnexpectedAnswer) {
    return { code: EXIT.unreachable, text: withHint(error.message, 'is that the address of an installation?') };
  }
  if (error instanceof ConfigError) return { code: EXIT.badInput, text: error.message };
  return { code: EXIT.failed, text: error instanceof Error ? error.message : String(error) };
};

const START_ONE = '`fixpoint up` starts an installation; --url and --audit-url name another one';

const withHint = (message: string, hint: string): string => (hint === '' ? message : `${message}\n  hint: ${hint}`);

/** Help that was asked for is no failure; it has been printed by then. */
const usage = ({ code, exitCode, message }: CommanderError): Failure => {
  if (exitCode === 0) return { code: EXIT.ok, text: '' };
  if (code === 'commander.help') return { code: EXIT.badInput, text: '' };
  return {
    code: EXIT.badInput,
    text: withHint(message.replace(/^error: /, ''), '--help lists what the command takes'),
  };
};

/** Whose fault a refusal is, told by its status. */
export const codeOfStatus = (status: number): number => {
  if (status === 400 || status === 413 || status === 415 || status === 422) return EXIT.badInput;
  return status >= 500 ? EXIT.failed : EXIT.refused;
};

const refusal = (error: ApiError): Failure => ({
  code: codeOfStatus(error.status),
  text: [
    withHint(`${error.detail} (${error.code})`, hintOf(error)),
    ...error.diagnostics.map((each) => diagnosticText('', each)),
  ].join('\n'),
});

const hintOf = ({ status, retryAfterMs }: ApiError): string => {
  if (status === 401) return 'give a key with --api-key or FIXPOINT_API_KEY';
  if (status === 429) return `try again in ${Math.ceil((retryAfterMs ?? 1000) / 1000)} s`;
  return '';
};

/** One complaint: `file:line:column: error FX103: …` and what to write instead. */
export const diagnosticText = (
  file: string,
  { line, column, severity, code, message, hint }: Omit<Diagnostic, 'path'>,
): string => {
  const place = [file, line, column].filter((part) => part !== '' && part !== null).join(':');
  return withHint(`${place === '' ? '' : `${place}: `}${severity} ${code}: ${message}`, hint);
};
