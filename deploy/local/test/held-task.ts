import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '@fixpoint/testing/eventually';

/** A task whose only command runs until the spec lets it go. */
export interface HeldTask {
  readonly document: string;
  /** Process ids of the commands started so far, one for each run. */
  pids(): Promise<readonly number[]>;
  /** Resolves with the process id of the first one. */
  started(): Promise<number>;
  release(): Promise<void>;
}

/** @param folder absolute; the command writes its process id there and waits there for its release. */
export const heldTask = async (folder: string, name = 'held'): Promise<HeldTask> => {
  const place = join(folder, name);
  await mkdir(place, { recursive: true });
  const pids = async (): Promise<readonly number[]> => {
    const text = await readFile(join(place, 'pids'), 'utf8').catch(() => '');
    return text.split('\n').filter(Boolean).map(Number);
  };
  return {
    document: `
kind: task/v1
name: ${name}
project: e2e
goal: The command was let go
nodes:
  - id: wait
    goal: The command was let go
    recipe:
      language: sh
      script: |
        echo $$ >> ${place}/pids
        until test -e ${place}/go; do sleep 0.1; done
        echo done > done
    postcondition: { command: test -s done }
`,
    pids,
    started: () => eventually('the held command runs', async () => (await pids())[0] ?? null),
    release: () => writeFile(join(place, 'go'), ''),
  };
};
