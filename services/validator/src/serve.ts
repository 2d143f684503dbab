import { SERVICE_ROLES } from '@fixpoint/event-store/roles';
import { connect, connectOptions } from '@fixpoint/runtime/connect';
import { infrastructureModule } from '@fixpoint/runtime/infrastructure';
import { processConfig } from '@fixpoint/runtime/process-config';
import { run } from '@fixpoint/runtime/run';
import { startOptions } from '@fixpoint/runtime/runtime-settings';
import type { Telemetry } from '@fixpoint/runtime/telemetry/telemetry';
import { parseConfig } from './config.ts';
import { validatorModule } from './validator.module.ts';

/** This service as the process, which ends when its environment does not fit. */
export const serve = async (
  env: Readonly<Record<string, string | undefined>>,
  telemetry: Telemetry | null,
): Promise<void> => {
  const config = processConfig(parseConfig, env);
  const options = startOptions('validator', config, telemetry);
  const identity = { name: 'validator', role: SERVICE_ROLES.validator, log: options.log, telemetry };

  await run(
    'validator',
    async () => [validatorModule(infrastructureModule(await connect(connectOptions(config, identity))), config)],
    options,
  );
};
