import { processConfig } from '@fixpoint/runtime/process-config';
import { parseConfig } from './config.ts';
import { migrateInstallation } from './migrate-installation.ts';
import { createLogins } from './service-logins.ts';

// A job that ends: the database is of this release and each service has its login, or exit code 1 says that it must run again.
const config = processConfig(parseConfig, process.env);
const ran = await migrateInstallation(config.postgresUrl);
await createLogins(config.postgresUrl, config);
console.log(JSON.stringify({ level: 'info', msg: 'the database is ready', ran }));
