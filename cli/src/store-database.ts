import {
  addressOf,
  isTurnedAway,
  isUnmigrated,
  isUnreachable,
  postgresFault,
} from '@fixpoint/event-store/postgres-fault';
import type { Command } from 'commander';
import type { Context } from './context.ts';
import { EXIT, Exit } from './exit-codes.ts';

/** Options of every command that works on the database itself instead of asking an installation. */
export interface DatabaseOptions {
  readonly postgres?: string;
  readonly json?: boolean;
}

/** Adds the options of {@link DatabaseOptions}. */
export const withDatabase = (command: Command): Command =>
  command
    .option('--postgres <url>', 'database of the event store (FIXPOINT_POSTGRES_URL)')
    .option('--json', 'answer with one line of JSON');

/**
 * Works on the database that the options name, else the environment.
 * @throws {Exit} when none is named, it can't be reached, or it holds no event store.
 */
export const onDatabase = async <Result>(
  { postgres }: DatabaseOptions,
  { env }: Context,
  work: (url: string) => Promise<Result>,
): Promise<Result> => {
  const url = checked(postgres ?? env.FIXPOINT_POSTGRES_URL ?? '');
  try {
    return await work(url);
  } catch (error) {
    if (isUnreachable(error)) throw new Exit(EXIT.unreachable, postgresFault(addressOf(url), error).message);
    if (isTurnedAway(error))
      throw new Exit(
        EXIT.unreachable,
        postgresFault(addressOf(url), error).message,
        'does the URL name the right user, password and database?',
      );
    if (isUnmigrated(error))
      throw new Exit(
        EXIT.refused,
        `${addressOf(url)} holds no event store of this release`,
        'run `fixpoint store migrate`',
      );
    throw error;
  }
};

const checked = (url: string): string => {
  if (url === '') {
    throw new Exit(EXIT.badInput, 'no database is named', 'give --postgres or FIXPOINT_POSTGRES_URL');
  }
  if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) return url;
  // It may hold a password.
  throw new Exit(
    EXIT.badInput,
    'the database is not a postgres:// URL',
    'write it like postgres://user:password@host:5432/name',
  );
};
