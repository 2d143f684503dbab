import { unitIdOf } from '@fixpoint/contracts/addresses';
import type { FixpointEvent } from '@fixpoint/contracts/events/catalogue';

/** Where a unit that has not ended stands: it moves, waits for a human, or its children do its work. */
export interface UnitStanding {
  readonly at: 'running' | 'human' | 'split';
  /** Open beside it; null when there is none. */
  readonly handoff: string | null;
}

/** The open units of a lineage, by id. */
export type Units = Readonly<Record<string, UnitStanding>>;

const RUNNING: UnitStanding = { at: 'running', handoff: null };

/** The open units after an event of their lineage. */
export const unitsAfter = (units: Units, fact: FixpointEvent): Units => {
  switch (fact.type) {
    case 'task_submitted':
      return { [fact.data.task]: RUNNING };
    case 'epic_opened':
      return opened(units, fact.data);
    case 'child_submitted':
      return { ...units, [fact.data.child.task]: RUNNING };
    case 'human_required':
      return changed(units, fact.data.task, () => asked(fact.data));
    case 'handoff_withdrawn':
    case 'human_decided':
      return changed(units, fact.data.task, withoutHandoff);
    case 'handoff_expired':
      return fact.data.outcome === 'keep' ? units : changed(units, fact.data.task, withoutHandoff);
    case 'task_completed':
    case 'task_blocked':
      return without(units, [fact.data.task]);
    case 'task_cancelled':
    case 'task_abandoned':
      return without(units, [fact.data.task, ...fact.data.ended_tasks]);
    default:
      return moved(units, fact);
  }
};

type Opened = Extract<FixpointEvent, { type: 'epic_opened' }>['data'];

const opened = (units: Units, { task, children }: Opened): Units => ({
  ...changed(units, task, (unit) => ({ ...unit, at: 'split' })),
  ...Object.fromEntries(children.map((child) => [child.task, RUNNING])),
});

/** A unit that is worked on does not wait, whatever a human may be asked beside it. */
const moved = (units: Units, fact: FixpointEvent): Units => {
  switch (fact.type) {
    case 'node_ready':
    case 'decomposition_requested':
    case 'recompose_started':
      return changed(units, unitIdOf(fact.data.task), (unit) => ({ ...unit, at: 'running' }));
    case 'recompose_failed': {
      const at = fact.data.next_at === null ? 'human' : 'running';
      return changed(units, fact.data.task, (unit) => ({ ...unit, at }));
    }
    default:
      return units;
  }
};

/** A human may be asked beside assemblies that go on by themselves. */
const asked = ({ handoff, raw_halt_type, run_open }: Asked): UnitStanding => ({
  at: raw_halt_type === 'recompose' && run_open ? 'running' : 'human',
  handoff,
});

type Asked = Extract<FixpointEvent, { type: 'human_required' }>['data'];

const withoutHandoff = ({ at }: UnitStanding): UnitStanding => ({ at: at === 'human' ? 'running' : at, handoff: null });

const changed = (units: Units, id: string, change: (unit: UnitStanding) => UnitStanding): Units => {
  const unit = units[id];
  return unit === undefined ? units : { ...units, [id]: change(unit) };
};

const without = (units: Units, ids: readonly string[]): Units =>
  Object.fromEntries(Object.entries(units).filter(([id]) => !ids.includes(id)));

/** A lineage waits for a human when none of its units moves without one. */
export const waitsForHuman = (units: Units): boolean => {
  const standings = Object.values(units).map(({ at }) => at);
  return standings.includes('human') && !standings.includes('running');
};

/** Handoffs that are open in a lineage. */
export const openHandoffs = (units: Units): number =>
  Object.values(units).filter(({ handoff }) => handoff !== null).length;
