import { type Changes, changesSchema } from '@fixpoint/contracts/rest/jobs';
import { applyFileChanges } from '@fixpoint/execution/workspace-changes';
import { artifactText } from '@fixpoint/validation/artifact-text';
import type { JobStanding } from '../jobs/jobs.ts';
import { NO_OUTPUT, outputOfValue } from '../ladder/node-output.ts';
import type { RemoteWork } from '../ladder/remote-work.ts';
import { type LongRunDeps, type RunAt, withinRun } from './run-end.ts';

type Settled = Extract<JobStanding, { status: 'settled' }>;

/** Above what one request may hold. */
const LONGEST_PART = 4 * 1024 * 1024;

/** Brings what a worker sent into the folder of the run. Changes that can not be made there make the work a failure. */
export const landWork = async (deps: LongRunDeps, at: RunAt, settled: Settled): Promise<RemoteWork> => {
  const by = `worker ${settled.worker}, epoch ${settled.epoch}`;
  const { settlement } = settled;
  if (settlement.kind === 'failure') return failedBy(settlement.failure.reason);
  const { exit_code: exitCode, stdout, stderr, output } = settlement.result;
  const problem = await withinRun(deps.clock, at, () => landParts(deps, at, settled.parts));
  const kept = await outputOfValue(output, deps.artifacts);
  if (problem !== null) return { ...FAILED, stdout, stderr, output: kept, detail: `${problem} (${by})` };
  const detail = exitCode === 0 ? by : stderr || stdout || by;
  return { outcome: exitCode === 0 ? 'zero' : 'nonzero', exitCode, stdout, stderr, output: kept, detail };
};

const failedBy = (reason: string): RemoteWork => ({
  ...{ outcome: 'nonzero', exitCode: 1, stdout: '', stderr: reason, output: NO_OUTPUT, detail: reason },
});

const FAILED = { outcome: 'nonzero', exitCode: null } as const;

const landParts = async (deps: LongRunDeps, at: RunAt, parts: readonly string[]): Promise<string | null> => {
  for (const part of parts) {
    const text = await artifactText(deps.artifacts, part, LONGEST_PART);
    const problem = text === null ? 'a part is too long' : await land(deps, at, changesSchema.parse(JSON.parse(text)));
    if (problem !== null) return problem;
  }
  return null;
};

const land = async (deps: LongRunDeps, at: RunAt, { patch, files }: Changes): Promise<string | null> => {
  const problem = patch === undefined ? null : await applyPatch(deps, at, patch);
  return problem ?? applyFileChanges(at.folder, files);
};

const applyPatch = async ({ primitives, clock }: LongRunDeps, at: RunAt, patch: string): Promise<string | null> => {
  const setting = { folder: at.folder, scratch: new Map<string, number>(), signal: at.signal };
  const timeoutMs = Math.max(1, at.deadlineMs - clock.monotonicMs());
  const { outcome, detail } = await primitives.run('git-apply-patch', { patch }, { setting, timeoutMs });
  return outcome === 'zero' ? null : detail;
};
