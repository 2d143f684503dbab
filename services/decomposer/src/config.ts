import { connectionSettings } from '@fixpoint/runtime/connect';
import { portSetting, runtimeSettings, workSettings } from '@fixpoint/runtime/runtime-settings';
import { type ConfigOf, parseConfig as parse, setting } from '@fixpoint/runtime/settings';
import { z } from 'zod';

/** What the decomposer itself needs, in a process of its own or beside the others. */
export const councilSettings = {
  ...workSettings('FIXPOINT_DECOMPOSER', 'decomposer'),
  council: setting('FIXPOINT_COUNCIL', {
    schema: z.enum(['structural', 'none']),
    unit: 'name',
    fallback: 'structural',
    about: 'Who proposes how a stalled task is split: structural needs no model; none never splits anything.',
  }),
};
export type CouncilConfig = ConfigOf<typeof councilSettings>;

/** Every key of the decomposer's environment, with unit and default. Its port serves health only. */
export const decomposerSettings = {
  ...runtimeSettings,
  ...connectionSettings,
  ...councilSettings,
  port: portSetting('FIXPOINT_DECOMPOSER_PORT', 4104),
};

/** @throws {ConfigError} with everything that does not fit. */
export const parseConfig = (env: Readonly<Record<string, string | undefined>>): ConfigOf<typeof decomposerSettings> =>
  parse(decomposerSettings, env);
