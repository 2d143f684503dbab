import type { Cursor } from '@fixpoint/contracts/envelope';
import { lineageStream } from '@fixpoint/contracts/streams';
import type { DecisionOutcome } from '@fixpoint/event-store/run-decision';
import type { StateCache } from '@fixpoint/event-store/state-cache';
import type { LineageCommand } from '../domain/lineage/commands.ts';
import type { Lineage } from '../domain/lineage/state.ts';
import { type Admissions, type LineageRuns, runsOf } from './admissions.ts';

interface About {
  readonly root: string;
  readonly command: LineageCommand;
}

type Run<Each> = (decisions: readonly Each[]) => Promise<readonly DecisionOutcome[]>;

/** Says with each decision whether there is room for another run, and counts what the decisions have started and ended. */
export const admitting =
  (admissions: Admissions, states: StateCache<Lineage>) =>
  async <Each extends About>(decisions: readonly Each[], run: Run<Each>): Promise<readonly DecisionOutcome[]> => {
    const before = new Map(decisions.map(({ root }) => [root, runsAt(states, root)]));
    const outcomes = await run(admitted(admissions, decisions, before));
    note(admissions, { states, before, decisions, outcomes });
    return outcomes;
  };

const runsAt = (states: StateCache<Lineage>, root: string): LineageRuns | null =>
  runsOf(states.get(lineageStream(root))?.state);

type Known = ReadonlyMap<string, LineageRuns | null>;

const admitted = <Each extends About>(
  admissions: Admissions,
  decisions: readonly Each[],
  before: Known,
): readonly Each[] => {
  const granted = { total: 0, projects: new Map<string, number>() };
  return decisions.map((decision) => {
    const { command, root } = decision;
    const known = before.get(root);
    const isNew = command.type === 'submit_task';
    const project = isNew ? command.spec.project : (known?.project ?? '');
    // A run that ends makes room for the next one of its task.
    const own = isNew ? 0 : Math.min(1, known?.running ?? 0);
    const here = granted.projects.get(project) ?? 0;
    const admission = admissions.of(project, { own, inAll: granted.total, inProject: here });
    if (isNew && admission.room) {
      granted.total += 1;
      granted.projects.set(project, here + 1);
    }
    return { ...decision, command: { ...command, admission } };
  });
};

interface Decided {
  readonly states: StateCache<Lineage>;
  readonly before: Known;
  readonly decisions: readonly Pick<About, 'root'>[];
  readonly outcomes: readonly DecisionOutcome[];
}

const note = (admissions: Admissions, { states, before, decisions, outcomes }: Decided): void => {
  for (const [root, cursor] of lastOf(decisions, outcomes)) {
    const was = before.get(root);
    const is = runsAt(states, root);
    if (!was || !is) continue;
    const change = { running: is.running - was.running, queued: is.queued - was.queued };
    if (change.running !== 0 || change.queued !== 0) admissions.note({ cursor, project: is.project, ...change });
  }
};

/** Of several decisions on one lineage the last one tells: the state is what all of them left. */
const lastOf = (decisions: Decided['decisions'], outcomes: readonly DecisionOutcome[]): ReadonlyMap<string, Cursor> => {
  const last = new Map<string, Cursor>();
  for (const [index, { root }] of decisions.entries()) {
    const outcome = outcomes[index];
    const event = outcome?.outcome === 'decided' ? outcome.events.at(-1) : undefined;
    if (event !== undefined) last.set(root, event.cursor);
  }
  return last;
};
