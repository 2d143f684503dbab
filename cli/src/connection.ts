import { type Client, fixpointClient } from '@fixpoint/client/client';
import type { Command } from 'commander';
import type { Context } from './context.ts';
import { EXIT, Exit } from './exit-codes.ts';
import { findInstallation } from './installation-file.ts';

/** Options of every command that talks to an installation. */
export interface ConnectionOptions {
  readonly url?: string;
  readonly auditUrl?: string;
  readonly apiKey?: string;
  readonly data?: string;
  readonly json?: boolean;
}

/** Adds the options of {@link ConnectionOptions}. */
export const withConnection = (command: Command): Command =>
  command
    .option('--url <url>', 'base URL of the write API')
    .option('--audit-url <url>', 'base URL of the audit API (default: the write API)')
    .option('--api-key <key>', 'key of this caller; better given as FIXPOINT_API_KEY')
    .option('--data <dir>', 'data folder of a local installation')
    .option('--json', 'answer with JSON, one object per line');

/**
 * The client of the installation that the options name, else the environment, else the local one that runs here.
 * @throws {Exit} when none is known or an address is none.
 */
export const connectionOf = async (options: ConnectionOptions, { env, cwd }: Context): Promise<Client> => {
  const written = options.url ?? nonEmpty(env.FIXPOINT_URL);
  const audited = options.auditUrl ?? nonEmpty(env.FIXPOINT_AUDIT_URL);
  const local = written === undefined ? await findInstallation({ data: options.data, env, cwd }) : null;
  const writeUrl = written ?? local?.write_url ?? audited;
  if (writeUrl === undefined) {
    throw new Exit(
      EXIT.unreachable,
      'no installation is known here',
      '`fixpoint up` starts one; or name one with --url, FIXPOINT_URL, or its data folder with --data',
    );
  }
  return fixpointClient({
    writeUrl: checked(writeUrl),
    auditUrl: checked(audited ?? local?.audit_url ?? writeUrl),
    apiKey: options.apiKey ?? nonEmpty(env.FIXPOINT_API_KEY) ?? null,
  });
};

const nonEmpty = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

const checked = (url: string): string => {
  const { protocol } = URL.parse(url) ?? { protocol: '' };
  if (protocol === 'http:' || protocol === 'https:') return url;
  throw new Exit(EXIT.badInput, `${url} is not an http or https URL`, 'write it like http://127.0.0.1:4100');
};
