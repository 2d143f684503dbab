import { connectionSettings } from '@fixpoint/runtime/connect';
import { reconcileSettings } from '@fixpoint/runtime/reconciling';
import { portSetting, runtimeSettings } from '@fixpoint/runtime/runtime-settings';
import { type ConfigOf, parseConfig as parse } from '@fixpoint/runtime/settings';

/** Every key of the auditor's environment, with unit and default. */
export const auditorSettings = {
  ...runtimeSettings,
  ...connectionSettings,
  ...reconcileSettings,
  port: portSetting('FIXPOINT_AUDITOR_PORT', 4105),
};

/** @throws {ConfigError} with everything that does not fit. */
export const parseConfig = (env: Readonly<Record<string, string | undefined>>): ConfigOf<typeof auditorSettings> =>
  parse(auditorSettings, env);
