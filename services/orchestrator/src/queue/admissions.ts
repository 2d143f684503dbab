import { type Cursor, compareCursors } from '@fixpoint/contracts/envelope';
import type { Admission } from '../domain/lineage/commands.ts';
import type { Lineage } from '../domain/lineage/state.ts';
import type { Room } from './in-order.ts';
import type { Standing } from './queue.ts';

/** How many runs may be in flight at once, of all projects and of one. */
export interface Window {
  readonly total: number;
  readonly project: number;
}

export const NO_WINDOW: Window = { total: Number.POSITIVE_INFINITY, project: Number.POSITIVE_INFINITY };

/** Runs of one lineage; null when this process does not have it at hand. */
export interface LineageRuns {
  readonly project: string;
  readonly running: number;
  readonly queued: number;
}

/** What this process decided and the projection may not show yet. */
export interface Change {
  readonly cursor: Cursor;
  readonly project: string;
  readonly running: number;
  readonly queued: number;
}

/** What a decision is made beside: runs that end with it, and runs that others of the same batch begin. */
export interface Beside {
  readonly own: number;
  readonly inAll: number;
  readonly inProject: number;
}

type Count = { running: number; queued: number };

export const runsOf = (state: Lineage | undefined): LineageRuns | null => {
  if (state === undefined) return null;
  if (state.status === 'unknown') return { project: '', running: 0, queued: 0 };
  let running = 0;
  let queued = 0;
  for (const task of Object.values(state.tasks)) {
    if (task.status !== 'open') continue;
    if (task.current !== null) running += 1;
    if (task.queued !== null) queued += 1;
  }
  return { project: state.scope.project, running, queued };
};

/**
 * Whether there is room for another run, known without asking anybody: what the projection last said of all replicas, and
 * what this process decided since. Other replicas' newest decisions are missing, so windows are soft by a batch of each.
 */
export class Admissions {
  /** Called when a run has ended here or was queued: somebody's turn may have come. */
  onChange: () => void = () => undefined;
  private readonly window: Window;
  private changes: Change[] = [];
  private projected: readonly Omit<Change, 'cursor'>[] = [];
  private projects = new Map<string, Count>();
  private total: Count = { running: 0, queued: 0 };
  private length = 0;
  private paused: readonly string[] = [];

  constructor(window: Window) {
    this.window = window;
  }

  /** Room for one more run of the project. */
  of(project: string, { own, inAll, inProject }: Beside): Admission {
    const place = this.projects.get(project);
    const usedHere = (place?.running ?? 0) + (place?.queued ?? 0) - own + inProject;
    const used = this.total.running + this.total.queued - own + inAll;
    return { room: used < this.window.total && usedHere < this.window.project, paused: this.paused };
  }

  /** Room for what is queued. */
  room(): Omit<Room, 'probes'> {
    return {
      total: Math.max(0, this.window.total - this.total.running),
      of: (project) => Math.max(0, this.window.project - (this.projects.get(project)?.running ?? 0)),
    };
  }

  full(): readonly string[] {
    return [...this.projects].flatMap(([project, { running }]) => (running < this.window.project ? [] : [project]));
  }

  /** Runs that wait for their turn, whatever for. */
  get queued(): number {
    return this.changes.reduce((sum, { queued }) => sum + queued, this.length);
  }

  note(change: Change): void {
    this.changes.push(change);
    this.add(change);
    if (change.running < 0 || change.queued > 0) this.onChange();
  }

  /** Takes over what the projection says; what it does not show yet stays on top. */
  update(standing: Standing, paused: readonly string[]): void {
    this.projected = standing.projects;
    this.changes = this.changes.filter(({ cursor }) => compareCursors(cursor, standing.upTo) > 0);
    this.paused = paused;
    this.length = standing.length;
    this.projects = new Map();
    this.total = { running: 0, queued: 0 };
    for (const count of [...this.projected, ...this.changes]) this.add(count);
  }

  private add({ project, running, queued }: Omit<Change, 'cursor'>): void {
    const count = this.projects.get(project) ?? { running: 0, queued: 0 };
    this.projects.set(project, { running: count.running + running, queued: count.queued + queued });
    this.total = { running: this.total.running + running, queued: this.total.queued + queued };
  }
}
