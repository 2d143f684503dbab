import type { Clock } from '@fixpoint/contracts/clock';
import { VIABLE } from '../domain/lineage/queue.ts';
import type { ProviderRow } from '../providers/provider-row.ts';
import type { MemoryRows } from '../waits/memory-waits.ts';
import type { QueuedRow } from '../waits/wait-rows.ts';
import { IN_FLIGHT, QUEUE_CLAIM_MS } from './in-flight.ts';
import type { ProjectStanding, Queue, Standing, Turns, Wanted } from './queue.ts';

/** The queue of this process: for tests, the simulator, and nothing else. */
export const memoryQueue = (rows: MemoryRows, clock: Pick<Clock, 'now'>): Queue => new MemoryQueue(rows, clock);

const nameOf = ({ task, run }: Pick<QueuedRow, 'task' | 'run'>): string => `${task}#${run}`;

class MemoryQueue implements Queue {
  private readonly rows: MemoryRows;
  private readonly clock: Pick<Clock, 'now'>;
  private readonly slots = new Map<string, Set<string>>();
  private readonly projects = new Map<string, number>();
  private total = 0;

  constructor(rows: MemoryRows, clock: Pick<Clock, 'now'>) {
    this.rows = rows;
    this.clock = clock;
  }

  standing(): Promise<Standing> {
    const projects = new Map<string, ProjectStanding>();
    const count = (project: string, more: Partial<ProjectStanding>): void => {
      const { running, queued } = projects.get(project) ?? { running: 0, queued: 0 };
      projects.set(project, {
        project,
        running: running + (more.running ?? 0),
        queued: queued + (more.queued ?? 0),
      });
    };
    for (const { project, kind } of this.rows.waiting()) if (IN_FLIGHT.includes(kind)) count(project, { running: 1 });
    const queued = this.rows.queued();
    for (const row of queued) if (row.queued_for === 'window') count(row.project, { queued: 1 });
    const oldest = queued.map(({ since }) => since).sort()[0] ?? null;
    const standing = { upTo: this.rows.followed, projects: [...projects.values()], length: queued.length, oldest };
    return Promise.resolve(standing);
  }

  startable({ each, full, paused }: Wanted): Promise<readonly QueuedRow[]> {
    const now = this.time(0);
    const found = this.rows
      .queued()
      .filter(
        (row) =>
          row.queued_for !== 'budget' && row.affinity >= VIABLE && row.next_at <= now && !full.includes(row.project),
      )
      .filter((row) => !row.providers.some((provider) => paused.includes(provider)) && this.hasSlot(row))
      .sort((a, b) => b.affinity - a.affinity || a.since.localeCompare(b.since) || a.task.localeCompare(b.task));
    const places = Map.groupBy(found, ({ class: name, project }) => `${name} ${project}`);
    return Promise.resolve([...places.values()].flatMap((of) => of.slice(0, each)));
  }

  claim(rows: readonly QueuedRow[]): Promise<readonly QueuedRow[]> {
    const now = this.time(0);
    const current = new Map(this.rows.queued().map((row) => [nameOf(row), row]));
    const claimed = rows.filter((row) => (current.get(nameOf(row))?.next_at ?? '~') <= now);
    for (const row of claimed) this.rows.postpone(row, this.time(QUEUE_CLAIM_MS));
    return Promise.resolve(claimed);
  }

  release(rows: readonly QueuedRow[]): Promise<void> {
    for (const row of rows) this.rows.postpone(row, this.time(0));
    return Promise.resolve();
  }

  takeSlot(row: QueuedRow): Promise<boolean> {
    if (row.key === null) return Promise.resolve(true);
    const held = this.slots.get(row.key) ?? new Set();
    if (!held.has(nameOf(row)) && held.size >= (row.key_limit ?? 0)) return Promise.resolve(false);
    this.slots.set(row.key, held.add(nameOf(row)));
    return Promise.resolve(true);
  }

  freeSlots(): Promise<void> {
    const flying = this.rows.waiting().filter(({ kind }) => IN_FLIGHT.includes(kind));
    const alive = new Set([...this.rows.queued(), ...flying].map(nameOf));
    for (const [key, held] of this.slots) {
      const left = [...held].filter((name) => alive.has(name));
      if (left.length === 0) this.slots.delete(key);
      else this.slots.set(key, new Set(left));
    }
    return Promise.resolve();
  }

  providers(): Promise<readonly ProviderRow[]> {
    return Promise.resolve(this.rows.providers());
  }

  turns(): Promise<Turns> {
    return Promise.resolve({ projects: new Map(this.projects), total: this.total });
  }

  served(projects: readonly string[]): Promise<void> {
    for (const project of projects) {
      this.total += 1;
      this.projects.set(project, this.total);
    }
    return Promise.resolve();
  }

  private hasSlot({ key, key_limit }: QueuedRow): boolean {
    return key === null || (this.slots.get(key)?.size ?? 0) < (key_limit ?? 0);
  }

  private time(inMs: number): string {
    return new Date(this.clock.now().getTime() + inMs).toISOString();
  }
}
