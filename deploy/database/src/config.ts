import { type ConfigOf, parseConfig as parse, setting } from '@fixpoint/runtime/settings';
import { z } from 'zod';

/** Stands in a URL as it is. */
const PASSWORD = /^[\w.~-]{16,}$/;

const password = (key: string, service: string) =>
  setting(key, {
    schema: z.string().regex(PASSWORD, 'is too short, or has other characters'),
    unit: '16 or more letters, digits, `_`, `-`, `.`, `~`',
    fallback: null,
    about: `What the ${service} logs in with.`,
    secret: true,
  });

/** Every key of the job's environment. */
export const databaseSettings = {
  postgresUrl: setting('FIXPOINT_POSTGRES_URL', {
    schema: z.string().regex(/^postgres(ql)?:\/\//),
    unit: 'postgres:// URL',
    fallback: null,
    about: 'Database of the event store, as a user that may create roles.',
    secret: true,
  }),
  orchestrator: password('FIXPOINT_ORCHESTRATOR_PASSWORD', 'orchestrator'),
  validator: password('FIXPOINT_VALIDATOR_PASSWORD', 'validator'),
  executor: password('FIXPOINT_EXECUTOR_PASSWORD', 'executor'),
  decomposer: password('FIXPOINT_DECOMPOSER_PASSWORD', 'decomposer'),
  auditor: password('FIXPOINT_AUDITOR_PASSWORD', 'auditor'),
};

/** @throws {ConfigError} with everything that does not fit. */
export const parseConfig = (env: Readonly<Record<string, string | undefined>>): ConfigOf<typeof databaseSettings> =>
  parse(databaseSettings, env);
