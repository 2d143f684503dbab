import { sandboxRequirementSchema } from '@fixpoint/contracts/documents/protocol';
import { z } from 'zod';
import { apiKeysSchema } from './api-keys.ts';
import type { LogMode } from './log.ts';
import { createLog } from './log.ts';
import { type ConfigOf, setting } from './settings.ts';
import type { StartOptions } from './start.ts';
import type { Telemetry } from './telemetry/telemetry.ts';
import { telemetrySettings } from './telemetry/telemetry-settings.ts';

const LOG_MODES = ['json', 'pretty', 'silent'] as const satisfies readonly LogMode[];

/** Keys that every process has. Spread them into the settings of a service, beside its port. */
export const runtimeSettings = {
  ...telemetrySettings,
  host: setting('FIXPOINT_HOST', {
    schema: z.string(),
    unit: 'address',
    fallback: '127.0.0.1',
    about: 'Where the API listens; anything but loopback needs API keys.',
  }),
  apiKeys: setting('FIXPOINT_API_KEYS', {
    schema: apiKeysSchema,
    unit: 'name:role:sha256 separated by commas, or JSON; roles reader, writer, admin',
    fallback: '',
    about: 'Who may use the APIs.',
    secret: true,
  }),
  drainMs: setting('FIXPOINT_DRAIN_MS', {
    schema: z.coerce.number().int().min(0).max(600_000),
    unit: 'ms',
    fallback: '25000',
    about: 'Time for the work in hand when the process is asked to stop.',
  }),
  logMode: setting('FIXPOINT_LOG', {
    schema: z.enum(LOG_MODES),
    unit: LOG_MODES.join(' | '),
    fallback: 'json',
    about: 'How the log is written: JSON on stdout, lines for people on stderr, or not at all.',
  }),
  logLevel: setting('FIXPOINT_LOG_LEVEL', {
    schema: z.enum(['debug', 'info', 'warn', 'error', 'fatal']),
    unit: 'debug | info | warn | error | fatal',
    fallback: 'info',
    about: 'Nothing below it is logged.',
  }),
};

/** A service's port; 0 takes a free one. */
export const portSetting = (key: string, fallback: number) =>
  setting(key, {
    schema: z.coerce.number().int().min(0).max(65_535),
    unit: 'TCP port',
    fallback: String(fallback),
    about: 'Port of the API; 0 takes a free one.',
  });

/** What a service needs that works with folders and processes. @param prefix `FIXPOINT_EXECUTOR` */
export const workSettings = (prefix: string, service: string) => ({
  folder: setting(`${prefix}_FOLDER`, {
    schema: z.string().startsWith('/'),
    unit: 'absolute path',
    fallback: `/var/lib/fixpoint/${service}`,
    about: 'Where workspaces are made and repositories are cached. Belongs to one process; may be lost.',
  }),
  longConcurrency: setting(`${prefix}_LONG_CONCURRENCY`, {
    schema: z.coerce.number().int().min(1).max(256),
    unit: 'pieces of work',
    fallback: '4',
    about: 'How many may have a folder and start processes at a time; others wait.',
  }),
  mirrorIdleMs: setting(`${prefix}_MIRROR_IDLE_HOURS`, {
    schema: z.coerce
      .number()
      .int()
      .min(24)
      .max(24 * 365)
      .transform((hours) => hours * 3_600_000),
    unit: 'hours',
    fallback: '168',
    about: 'Cached repositories, and commits in them, that nobody wanted for so long are removed.',
  }),
  mirrorMaxBytes: setting(`${prefix}_MIRROR_MAX_BYTES`, {
    schema: z.coerce.number().int().min(0),
    unit: 'bytes',
    fallback: '21474836480',
    about: 'All cached repositories together; the least recently used go first, those of the last day never.',
  }),
  path: setting('PATH', {
    schema: z.string(),
    unit: 'search path',
    fallback: '/usr/local/bin:/usr/bin:/bin',
    about: 'PATH of every command.',
  }),
});

/** What a service needs that runs commands of others. */
export const sandboxSettings = {
  sandbox: setting('FIXPOINT_SANDBOX', {
    schema: sandboxRequirementSchema,
    unit: 'required | preferred | none',
    fallback: 'required',
    about: 'Of commands in modes that say nothing: required runs nothing without a sandbox.',
  }),
  readable: setting('FIXPOINT_SANDBOX_READABLE', {
    schema: z
      .string()
      .transform((text) => text.split(':').filter((path) => path !== ''))
      .refine((paths) => paths.every((path) => path.startsWith('/')), 'expected absolute paths'),
    unit: 'absolute paths separated by colons',
    fallback: '',
    about: 'What commands may read in a sandbox beside /usr and the folders of PATH.',
  }),
};

type ProcessConfig = Pick<ConfigOf<typeof runtimeSettings>, 'host' | 'apiKeys' | 'drainMs' | 'logMode' | 'logLevel'> & {
  readonly port: number;
};

/** What `run` and `start` need, from the configuration of a process. */
export const startOptions = (name: string, config: ProcessConfig, telemetry: Telemetry | null = null): StartOptions => {
  const mixin = telemetry === null ? {} : { mixin: telemetry.logFields };
  const log = createLog({ name, mode: config.logMode, level: config.logLevel, ...mixin });
  telemetry?.reportTo(log);
  return {
    http: { host: config.host, port: config.port, apiKeys: config.apiKeys },
    log,
    drainMs: config.drainMs,
    telemetry,
  };
};
