import type { z } from 'zod';

/** One key of the environment. */
export interface Setting<T> {
  readonly key: string;
  readonly schema: z.ZodType<T>;
  /** What the text means: `ms`, `bytes`, `TCP port`, `postgres:// URL`, … */
  readonly unit: string;
  /** The text that is taken when the key is unset or empty; null makes the key mandatory. */
  readonly fallback: string | null;
  readonly about: string;
  /** Secrets are never printed. */
  readonly secret: boolean;
}

export type Settings = Readonly<Record<string, Setting<unknown>>>;
export type ConfigOf<S extends Settings> = { readonly [Name in keyof S]: S[Name] extends Setting<infer T> ? T : never };

interface SettingOptions<T> {
  readonly schema: z.ZodType<T>;
  readonly unit: string;
  readonly fallback: string | null;
  readonly about: string;
  readonly secret?: boolean;
}

/** Declares a key; `schema` reads its text (use `z.coerce` for numbers). */
export const setting = <T>(key: string, options: SettingOptions<T>): Setting<T> => ({ secret: false, ...options, key });

/** The environment does not fit. The message lists every problem, one per line. Thrown before anything has started. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(message: string) {
    super(message);
    // The reader wants the problems, not our call stack.
    this.stack = message;
  }
}

const hint = (each: Setting<unknown>): string =>
  `(${each.unit}; ${each.fallback === null ? 'mandatory' : `default ${each.fallback === '' ? 'none' : each.fallback}`})`;

const read = (each: Setting<unknown>, text: string | undefined): { value: unknown } | { problem: string } => {
  const given = text === undefined || text === '' ? each.fallback : text;
  if (given === null) return { problem: `${each.key} is not set. ${each.about} ${hint(each)}` };
  const parsed = each.schema.safeParse(given);
  if (parsed.success) return { value: parsed.data };
  const shown = each.secret ? 'its value' : JSON.stringify(given);
  return {
    problem: `${each.key}: ${shown}: ${parsed.error.issues.map((issue) => issue.message).join('; ')} ${hint(each)}`,
  };
};

/**
 * Typed configuration from an environment. Empty text counts as unset.
 * @throws {ConfigError} with all problems at once.
 */
export const parseConfig = <S extends Settings>(
  settings: S,
  env: Readonly<Record<string, string | undefined>>,
): ConfigOf<S> => {
  const results = Object.entries(settings).map(([name, each]) => [name, read(each, env[each.key])] as const);
  const problems = results.flatMap(([, result]) => ('problem' in result ? [result.problem] : []));
  if (problems.length > 0) throw new ConfigError(`The configuration does not fit:\n  ${problems.join('\n  ')}`);
  const values = results.map(([name, result]) => [name, 'value' in result ? result.value : undefined]);
  // Each value was read by the schema of its own name, which the mapped type repeats.
  return Object.fromEntries(values) as ConfigOf<S>;
};

/**
 * Values of variables that other settings name.
 * @throws {ConfigError} naming all that are not set.
 */
export const secretsOf = (
  names: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> => {
  const unset = names.filter((name) => (env[name] ?? '') === '');
  if (unset.length > 0)
    throw new ConfigError(`The configuration names variables that are not set: ${unset.join(', ')}`);
  return Object.fromEntries(names.map((name) => [name, env[name] ?? '']));
};

/** Every key with unit, default and meaning, one per line, for `--help` and manuals. */
export const describeSettings = (settings: Settings): string =>
  Object.values(settings)
    .map((each) => `${each.key} ${hint(each)} ${each.about}`)
    .join('\n');
