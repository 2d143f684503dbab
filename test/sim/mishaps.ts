import type { Clock } from '@fixpoint/contracts/clock';
import type { Append } from '@fixpoint/event-store/event-store';
import type { Command, CommandResult, Output, Runner } from '@fixpoint/execution/runner';
import { WorkspaceFault, type WorkspaceFaultClass } from '@fixpoint/execution/workspace-fault';
import type { Delivered, Workspaces } from '@fixpoint/execution/workspaces';
import type { Window } from '@fixpoint/orchestrator/queue/admissions';
import { AGENT, type Disturbances } from '../world/foundations.ts';
import type { SimulatedProcess } from '../world/simulated-process.ts';
import type { Barrier } from './barrier.ts';
import type { Choices } from './choices.ts';
import { shakyAgent, shakyCouncil, shakyRepair } from './shaky-models.ts';
import { shakyReader } from './shaky-reader.ts';
import { deadHost } from './storms.ts';

export interface MishapDeps {
  readonly choices: Choices;
  readonly clock: Clock;
  readonly barrier: Barrier;
  /** The name with a number for each time that it is asked for: they come in the same order whenever a seed is run. */
  readonly numbered: (name: string) => string;
  /** Ends a process; another one follows after a while. */
  readonly crash: (process: SimulatedProcess, key: string) => void;
}

class StoreOutOfReach extends Error {
  override readonly name = 'StoreOutOfReach';
}

const nameOfAppends = (appends: readonly Append[]): string =>
  appends
    .map(({ stream, expectedVersion, events }) => `${events[0]?.type} ${stream}@${expectedVersion + 1}`)
    .join(', ');

/** What goes wrong between the processes and their ports, as the seed says. */
export const mishaps = (deps: MishapDeps): Disturbances => ({
  ...storeMishaps(deps),
  skewMs: skews(deps),
  reader: (inner) => shakyReader(deps.choices, inner),
  runner: (inner, process) => shakyRunner(deps, inner, process),
  workspaces: (inner) => shakyWorkspaces(deps, inner),
  repairModel: (inner, process) => shakyRepair(deps, inner, process),
  councilModel: (inner, process) => shakyCouncil(deps, inner, process),
  agentModel: (process) => shakyAgent(deps, AGENT, process),
  tokenCheck: (inner) => (token, expected, now) => deps.barrier.through(inner(token, expected, now)),
  // Without a signature no other thread is asked.
  readDecisions: (inner) => (jws) => (jws.length === 0 ? inner(jws) : deps.barrier.through(inner(jws))),
  ...windowOf(deps),
  keptLineages: deps.choices.happens('forgetful', 'orchestrators', 0.3) ? 1 : 100,
});

const WINDOWS: readonly Window[] = [
  { total: 2, project: 2 },
  { total: 3, project: 1 },
];

const windowOf = ({ choices }: MishapDeps): Pick<Disturbances, 'window'> => {
  const window = WINDOWS[choices.pick('window', 'runs', { share: 0.25, options: WINDOWS.length }) - 1];
  return window === undefined ? {} : { window };
};

const storeMishaps = ({ choices, crash, numbered }: MishapDeps): Pick<Disturbances, 'storing' | 'stored'> => ({
  storing: (process, appends) => {
    const key = numbered(nameOfAppends(appends));
    if (choices.happens('unreachable', key, 0.01)) throw new StoreOutOfReach(`before ${key}`);
    if (!choices.happens('crash_before_commit', key, 0.012)) return true;
    crash(process, key);
    return false;
  },
  stored: (process, appends) => {
    const key = numbered(`after ${nameOfAppends(appends)}`);
    if (choices.happens('crash_after_commit', key, 0.012)) crash(process, key);
    else if (choices.happens('unheard', key, 0.01)) throw new StoreOutOfReach(key);
  },
});

/** Minutes by which clocks are wrong; a step every hour or so of the world's time. */
const SKEWS_MS = [0, 2_000, -2_000, 30_000, -30_000, 180_000, -180_000] as const;
const STEP_MS = 900_000;
/** Longer than a token is good for. */
const HOURS_MS = 2 * 3_600_000;

const skews =
  ({ choices, clock }: MishapDeps) =>
  (process: string): number => {
    const key = `${process} ${Math.floor(clock.monotonicMs() / STEP_MS)}`;
    // Whoever runs what was allowed takes every token for an old one then.
    if (process.startsWith('executor') && choices.happens('clock_hours', key, 0.02)) return HOURS_MS;
    return SKEWS_MS[choices.pick('clock_step', key, { share: 0.05, options: SKEWS_MS.length - 1 })] ?? 0;
  };

const NOTHING: Output = { hash: null, sha256: '', bytes: 0, head: '', tail: '', truncated: false };

const RESULT: CommandResult = {
  status: 'exited',
  exitCode: 0,
  signal: null,
  durationMs: 0,
  stdout: NOTHING,
  stderr: NOTHING,
  leftovers: 0,
  survivors: [],
  error: null,
};

/** Ends of a command that its text would not lead to. */
const BROKEN: readonly Partial<CommandResult>[] = [
  { exitCode: 1 },
  { exitCode: 127 },
  { status: 'timed_out', exitCode: null },
  { status: 'signaled', exitCode: null, signal: 'SIGKILL' },
  { status: 'not_started', exitCode: null, error: { code: 'not_found', detail: 'gone' } },
];
const SLOW_MS = [200, 5_000, 40_000] as const;

const shakyRunner = (deps: MishapDeps, inner: Runner, process: SimulatedProcess): Runner => {
  const { choices, crash, numbered } = deps;
  const slowly = async (command: Command, key: string): Promise<void> => {
    const slow = choices.pick('slow_command', key, { share: 0.04, options: SLOW_MS.length });
    if (slow > 0) await process.commandClock.sleep(SLOW_MS[slow - 1] ?? 0, command.signal);
  };
  return {
    run: async (command) => {
      const text = command.program.kind === 'argv' ? command.program.argv.join(' ') : command.program.text;
      const key = numbered(text);
      await slowly(command, key);
      if (choices.happens('crash_in_command', key, 0.01)) {
        crash(process, key);
        return new Promise(() => undefined);
      }
      const broken = choices.pick('command_breaks', key, { share: 0.03, options: BROKEN.length });
      return broken === 0 ? inner.run(command) : { ...RESULT, ...BROKEN[broken - 1] };
    },
  };
};

const WORKSPACE_FAULTS: readonly WorkspaceFaultClass[] = ['network', 'disk', 'workspace'];

const REFUSED: Delivered = { outcome: 'refused', commit: '', reason: 'moved_on', detail: 'somebody else was first' };

const shakyWorkspaces = ({ choices, numbered, clock }: MishapDeps, inner: Workspaces): Workspaces => {
  const isDead = deadHost(choices, clock);
  const shaken = (name: string): void => {
    const key = numbered(name);
    const fault = choices.pick('workspace_fault', key, { share: 0.015, options: WORKSPACE_FAULTS.length });
    if (fault > 0) throw new WorkspaceFault(WORKSPACE_FAULTS[fault - 1] ?? 'disk', 'simulated', { detail: key });
  };
  return new Proxy(inner, {
    get: (target, method) => {
      const member: unknown = Reflect.get(target, method);
      if (typeof member !== 'function' || method === 'remove') return member;
      return async (...args: unknown[]): Promise<unknown> => {
        shaken(String(method));
        if (method === 'resolve' && args[0] !== null && isDead())
          throw new WorkspaceFault('network', 'source_unreachable', { detail: 'the host is dead' });
        if (method === 'deliver' && choices.happens('refused_push', numbered('push'), 0.2)) return REFUSED;
        return Reflect.apply(member, target, args);
      };
    },
  });
};
