import type { LineageCommand } from '@fixpoint/orchestrator/domain/lineage/commands';
import { lineage } from '@fixpoint/orchestrator/domain/lineage/decide';
import type { Facts, Lineage } from '@fixpoint/orchestrator/domain/lineage/state';

type Decide = (command: LineageCommand, state: Lineage) => Facts;

/** A decider that is wrong, and the rule that must find it. */
export interface PlantedBug {
  readonly name: string;
  readonly foundBy: string;
  readonly decide: (decide: Decide) => Decide;
}

type Changed = (facts: Facts, state: Lineage) => Facts;

const afterwards =
  (change: Changed) =>
  (decide: Decide): Decide =>
  (command, state) =>
    change(decide(command, state), state);

const without =
  (type: Facts[number]['type']): Changed =>
  (facts) =>
    facts.filter((fact) => fact.type !== type);

/** Takes the answer of any run for that of the current one. */
const anyRun =
  (decide: Decide): Decide =>
  (command, state) => {
    if (command.type !== 'end_run' || state.status !== 'admitted') return decide(command, state);
    const task = state.tasks[command.result.task];
    if (task === undefined || task.current === null) return decide(command, state);
    const confused = { ...task, current: { ...task.current, run: command.result.run } };
    return decide(command, { ...state, tasks: { ...state.tasks, [task.id]: confused } });
  };

const oneMore =
  (decide: Decide): Decide =>
  (command, state) => {
    const { bounds } = command.mode;
    const higher = {
      execute: bounds.execute + 1,
      iterations: bounds.iterations + 1,
      max_total_fix_attempts: bounds.max_total_fix_attempts + 1,
    };
    return decide({ ...command, mode: { ...command.mode, bounds: { ...bounds, ...higher } } }, state);
  };

const chargedTwice: Changed = (facts) =>
  facts.map((fact) =>
    fact.type === 'subtask_spawned'
      ? { ...fact, data: { ...fact.data, fix_attempts: fact.data.fix_attempts + 1 } }
      : fact,
  );

const deafTimers =
  (decide: Decide): Decide =>
  (command, state) =>
    command.type === 'timer_due' && command.timer.kind === 'retry' ? [] : decide(command, state);

/** Bugs that somebody could have written. */
export const plantedBugs: readonly PlantedBug[] = [
  { name: 'a fix is charged twice', foundBy: 'C9 each fix is charged once', decide: afterwards(chargedTwice) },
  { name: 'every bound is one too high', foundBy: 'no bound is ever passed', decide: oneMore },
  { name: 'a timer that is due starts nothing', foundBy: 'a lineage that waits for nobody', decide: deafTimers },
  { name: 'a late answer counts once more', foundBy: 'no message is given up', decide: anyRun },
  { name: 'no human is told', foundBy: 'the simulator: Error: no rest', decide: afterwards(without('human_required')) },
];

/** Plants a bug in the decider of this process; the answer takes it out again. */
export const plant = ({ decide }: PlantedBug): (() => void) => {
  const target = lineage as { decide: Decide };
  const healthy = target.decide;
  target.decide = decide(healthy);
  return () => {
    target.decide = healthy;
  };
};
