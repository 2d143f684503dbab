import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const duration = z.string().regex(/^(?:\d+(?:us|ms|s|m|h))+$/);
const names = z.array(z.string().regex(/^[a-z_]+$/));

/** One service: of all keys that Compose knows those that we use, each in the one form of it that we use. */
const serviceSchema = z.strictObject({
  image: z.string().min(1),
  build: z.strictObject({ context: z.string(), dockerfile: z.string() }).optional(),
  command: z.array(z.string()).min(1),
  environment: z.record(z.string().regex(/^[A-Z_]+$/), z.string()).default({}),
  restart: z.enum(['no', 'always', 'on-failure', 'unless-stopped']),
  stop_grace_period: duration.optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
  shm_size: z
    .string()
    .regex(/^\d+(?:b|k|kb|m|mb|g|gb)$/)
    .optional(),
  depends_on: z
    .record(
      z.string(),
      z.strictObject({
        condition: z.enum(['service_started', 'service_healthy', 'service_completed_successfully']),
      }),
    )
    .default({}),
  healthcheck: z
    .strictObject({
      test: z.tuple([z.literal('CMD')], z.string()),
      interval: duration,
      timeout: duration,
      start_period: duration,
      retries: z.int().optional(),
    })
    .optional(),
  networks: names,
  ports: z.array(z.string().regex(/^(?:[\d.]+|\$\{[^}]*\}):\d+:\d+$/)).default([]),
  volumes: z.array(z.string().regex(/^[a-z]+:\/[\w/]+$/)).default([]),
  secrets: names.default([]),
});

const fileSchema = z
  .looseObject({
    name: z.string().regex(/^[a-z0-9][a-z0-9_-]*$/),
    services: z.record(z.string(), serviceSchema),
    networks: z.record(z.string(), z.strictObject({ internal: z.boolean().optional() })),
    volumes: z.record(z.string(), z.strictObject({})),
    secrets: z.record(z.string(), z.strictObject({ environment: z.string().optional(), file: z.string().optional() })),
  })
  .refine(
    (file) => Object.keys(file).every((key) => /^(?:x-.*|name|services|networks|volumes|secrets)$/.test(key)),
    'has a key that Compose does not know',
  );
export type ComposeFile = z.output<typeof fileSchema>;

/** `docker-compose.yml`, its variables not yet replaced. @throws {z.ZodError} for what Compose would not take. */
export const composeFile = (): ComposeFile =>
  fileSchema.parse(
    parse(readFileSync(new URL('../../../docker-compose.yml', import.meta.url), 'utf8'), { merge: true }),
  );

/** A variable as a compose file uses it: `${NAME:?why}` is needed, `${NAME:-text}` has a default. */
export interface Variable {
  readonly name: string;
  /** Null: Compose stops when it is missing. */
  readonly fallback: string | null;
}

const VARIABLE = /\$\{([A-Z_]+)(?::([?-])([^}]*))?\}/g;

const variableOf = ([text, name = '', sign, rest = '']: readonly string[]): Variable => {
  if (sign === undefined) throw new Error(`${text} is replaced by nothing when it is missing`);
  return { name, fallback: sign === '-' ? rest : null };
};

export const variablesIn = (text: string): Variable[] => [...text.matchAll(VARIABLE)].map((match) => variableOf(match));

/** The text as Compose hands it on. @throws when a needed variable is missing or empty. */
export const interpolated = (text: string, environment: Readonly<Record<string, string>>): string =>
  text.replaceAll(VARIABLE, (...match) => {
    const { name, fallback } = variableOf(match.slice(0, 4));
    const value = environment[name] || fallback;
    if (value === null) throw new Error(`required variable ${name} is missing a value`);
    return value;
  });
