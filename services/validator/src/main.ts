import { processTelemetry } from '@fixpoint/runtime/telemetry/process-telemetry';

// Before anything else is imported: what is to be observed must find the observer there.
const telemetry = await processTelemetry('validator', process.env);
const { serve } = await import('./serve.ts');
await serve(process.env, telemetry);
