import { ConfigError } from './settings.ts';

/**
 * The configuration of this process. When its environment does not fit, all that is wrong goes to stderr and the
 * process exits 1: whoever starts it wants to read that, and no source of ours.
 * @param parse the `parseConfig` of a service.
 */
export const processConfig = <Config>(
  parse: (env: Readonly<Record<string, string | undefined>>) => Config,
  env: Readonly<Record<string, string | undefined>>,
): Config => {
  try {
    return parse(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
};
