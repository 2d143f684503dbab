// Runs an installation from what `npm run build` made, for end-to-end specs: options in, one JSON line per fact out.
import { setTimeout as sleep } from 'node:timers/promises';
import { startTelemetry } from '@fixpoint/runtime/telemetry/start-telemetry';

const say = (fact) => process.stdout.write(`${JSON.stringify(fact)}\n`);
const { embedded, telemetryEnv = {}, ...given } = JSON.parse(process.argv[2]);
const telemetry = embedded ? await startTelemetry('fixpoint', telemetryEnv) : null;
const { examplePath } = await import('@fixpoint/examples/example-path');
const { startEmbedded } = await import('@fixpoint/local/embedded');
const { startProcesses } = await import('@fixpoint/local/processes');
const { createLog } = await import('@fixpoint/runtime/log');

const mixin = telemetry === null ? {} : { mixin: telemetry.logFields };
const log = createLog({ name: 'embedded', mode: 'pretty', level: 'info', ...mixin });
telemetry?.reportTo(log);
const path = examplePath(process.env.PATH);
const options = {
  temporary: true,
  withoutNats: false,
  dockerHost: null,
  path,
  installNats: true,
  host: '127.0.0.1',
  port: 0,
  ports: null,
  drainMs: 10_000,
  concurrency: 4,
  logMode: 'pretty',
  logLevel: 'info',
  log,
  telemetry,
  telemetryEnv,
  onProgress: (line) => process.stderr.write(`${line}\n`),
  onExit: (service, how) => say({ exit: { service, how } }),
  ...given,
};

const installation = embedded ? await startEmbedded(options) : await startProcesses(options);
const { writeUrl, auditUrl, workerUrl, bus } = installation;
say({ started: { writeUrl, auditUrl, workerUrl, bus, path } });

let isStopping = false;
process.once('SIGTERM', () => {
  isStopping = true;
});
for (let said = ''; !isStopping; await sleep(20)) {
  const pids = Object.fromEntries([...(installation.services ?? [])].map(([name, service]) => [name, service.pid()]));
  if (JSON.stringify(pids) !== said) say({ pids });
  said = JSON.stringify(pids);
}
await installation.close();
await telemetry?.stop(3_000);
process.exit(0);
