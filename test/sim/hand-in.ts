import type { RunTokenClaims } from '@fixpoint/contracts/run-token';
import { submitChild } from '@fixpoint/orchestrator/writing/submit-child';
import { runTokenReader } from '@fixpoint/runtime/run-tokens';
import { PUBLIC_KEYS } from '../world/services.ts';
import type { Barrier } from './barrier.ts';
import type { Staff } from './staff.ts';

/** A child that makes one file. */
const partOf = ({ project, mode }: RunTokenClaims, name: string) => ({
  ...{ kind: 'task/v1', name, project, mode, goal: `${name} is there` },
  nodes: [
    {
      ...{ id: 'make', goal: `make ${name}`, recipe: { command: `echo yes > ${name}` } },
      postcondition: { command: `test -f ${name}` },
    },
  ],
});

/** What a command does that hands work in with the token of its run; true when the work was taken. */
export const handIn = (barrier: Barrier, staff: () => Staff): ((token: string, name: string) => Promise<boolean>) => {
  const read = runTokenReader(PUBLIC_KEYS);
  return async (token, name) => {
    const run = await barrier.through(read(token));
    const [orchestrator] = staff().orchestrators();
    if (orchestrator === undefined) return false;
    const { submissions } = orchestrator.orchestrator;
    const task = { document: partOf(run, name), idempotency_key: name };
    const result = await Promise.race([
      submitChild(submissions, task, { name: 'run', role: 'writer', run }).catch(() => null),
      orchestrator.process.death.then(() => null),
    ]);
    return result?.outcome === 'accepted';
  };
};
