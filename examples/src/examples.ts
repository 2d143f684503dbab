import { fileURLToPath } from 'node:url';

/** A real run on a real repository that `setup.sh` makes; nothing of its result is given beforehand. */
export interface Example {
  readonly name: string;
  /** Folder with `setup.sh`, the documents, and nothing else. */
  readonly folder: string;
  readonly task: string;
  /** Null: the built-in protocol. */
  readonly protocol: string | null;
  /** A script that is run beside the task: what others do in the meantime. It waits for its moment by itself. */
  readonly meanwhile?: string;
  /** A program of the machine that it can't do without. */
  readonly needs?: 'python3';
  /** What a human does when the task waits for one: a script, and then a decision from the command line. */
  readonly decision?: { readonly script: string; readonly args: readonly string[] };
  /** The end state that shows that the product did what it promises. */
  readonly expected: {
    readonly status: 'completed' | 'degraded' | 'blocked' | 'human';
    readonly rawHaltType: string | null;
    readonly fixAttempts: { readonly least: number; readonly most: number };
    readonly depth: { readonly least: number; readonly most: number };
    /** Nodes of the root whose conditions do not hold. */
    readonly skipped?: readonly string[];
    /** Children, split links down to the deepest of them, and assemblies that fail before the last one. */
    readonly split?: { readonly children: number; readonly depth: number; readonly failedAssemblies: number };
  };
}

const folder = (name: string): string => fileURLToPath(new URL(`../${name}/`, import.meta.url));
const exactly = (n: number) => ({ least: n, most: n });

const neverPasses = (mode: string, expected: Omit<Example['expected'], 'status'>): Example => ({
  name: `never-passes/${mode}`,
  folder: folder('never-passes'),
  task: `${mode}.yaml`,
  protocol: 'protocol.yaml',
  expected: { status: 'human', ...expected },
});

const COMPLETED: Example['expected'] = {
  status: 'completed',
  rawHaltType: null,
  fixAttempts: exactly(0),
  depth: exactly(0),
};

/** Every example, in the order in which the demonstration shows them. */
export const examples: readonly Example[] = [
  {
    name: 'commit-deps',
    folder: folder('commit-deps'),
    task: 'task.yaml',
    protocol: null,
    expected: { status: 'completed', rawHaltType: null, fixAttempts: exactly(0), depth: exactly(0) },
  },
  {
    name: 'format-and-lint',
    folder: folder('format-and-lint'),
    task: 'task.yaml',
    protocol: 'protocol.yaml',
    expected: {
      status: 'completed',
      rawHaltType: null,
      fixAttempts: { least: 1, most: 10 },
      depth: { least: 1, most: 3 },
    },
  },
  {
    name: 'pipeline',
    folder: folder('pipeline'),
    task: 'task.yaml',
    protocol: null,
    expected: {
      status: 'completed',
      rawHaltType: null,
      fixAttempts: exactly(0),
      depth: exactly(0),
      skipped: ['migration'],
    },
  },
  {
    name: 'best-effort',
    folder: folder('best-effort'),
    task: 'task.yaml',
    protocol: null,
    expected: { status: 'degraded', rawHaltType: null, fixAttempts: exactly(0), depth: exactly(0) },
  },
  {
    name: 'hard-blocker',
    folder: folder('hard-blocker'),
    task: 'task.yaml',
    protocol: null,
    expected: { status: 'blocked', rawHaltType: null, fixAttempts: exactly(0), depth: exactly(0) },
  },
  {
    name: 'too-big',
    folder: folder('too-big'),
    task: 'task.yaml',
    protocol: null,
    expected: { ...COMPLETED, split: { children: 5, depth: 2, failedAssemblies: 0 } },
  },
  {
    name: 'proved-subtree',
    folder: folder('proved-subtree'),
    task: 'task.yaml',
    protocol: 'protocol.yaml',
    expected: { ...COMPLETED, split: { children: 2, depth: 1, failedAssemblies: 2 } },
  },
  {
    name: 'landed-meanwhile',
    folder: folder('landed-meanwhile'),
    task: 'task.yaml',
    protocol: null,
    meanwhile: 'meanwhile.sh',
    expected: COMPLETED,
  },
  {
    name: 'dead-end',
    folder: folder('dead-end'),
    task: 'task.yaml',
    protocol: null,
    decision: { script: 'decide.sh', args: ['resolve', '--ref', 'owners-choice'] },
    expected: COMPLETED,
  },
  neverPasses('deeper', { rawHaltType: 'max_recovery_depth', fixAttempts: exactly(3), depth: exactly(3) }),
  neverPasses('tug-of-war', { rawHaltType: 'max_total_fix_attempts', fixAttempts: exactly(10), depth: exactly(1) }),
  neverPasses('standstill', { rawHaltType: 'recovery_stalled', fixAttempts: exactly(1), depth: exactly(1) }),
  {
    name: 'worker',
    folder: folder('worker'),
    task: 'task.yaml',
    protocol: null,
    meanwhile: 'meanwhile.sh',
    needs: 'python3',
    expected: COMPLETED,
  },
];
