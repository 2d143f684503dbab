import type { ModeSpec } from '@fixpoint/contracts/documents/protocol';
import type { NodeSpec, TaskSpec } from '@fixpoint/contracts/documents/task';
import type { Slice } from '@fixpoint/contracts/events/decomposer-events';
import { mode, nodeSpec, Play, ROOT, taskSpec } from '../lineage.fixture.ts';
import type { Epic, Unit } from '../state.ts';

export const slice = (name: string, more: Partial<Slice> = {}): Slice => ({
  ...{ name, goal: `${name} is done`, paths: [], inputs: {}, salvage: false, parts: [] },
  nodes: [nodeSpec({ id: name })],
  ...more,
});

/** Plays a lineage through splits. Runs are named by their task. */
export class EpicPlay extends Play {
  /** The council's yes to the open request of a unit. */
  split(id: string, slices: readonly Slice[]): string[] {
    const task = this.task(id);
    return this.send({
      type: 'decide_split',
      answer: {
        ...{ root: ROOT, task: id, address: task.address, request: this.unitOf(id).request.number },
        ...{ should_decompose: true, slices: [...slices], reason: 'it is too big', confidence: 'high' },
        ...{ adapter: 'structural', spent: { duration_ms: 1, money_micros: 0, tokens: 0 } },
      },
    });
  }

  /** The council's no to the open request of a unit. */
  noSplitOf(id: string): string[] {
    const { address } = this.task(id);
    return this.send({
      type: 'decide_split',
      answer: {
        ...{ root: ROOT, task: id, address, request: this.unitOf(id).request.number },
        ...{ should_decompose: false, reason: 'no_council', confidence: 'high', adapter: null },
        spent: { duration_ms: 0, money_micros: 0, tokens: 0 },
      },
    });
  }

  unitOf(id: string): Unit {
    const unit = this.state.units[id];
    if (!unit) throw new Error(`no unit ${id}`);
    return unit;
  }

  epic(id = ROOT): Epic {
    const epic = this.state.epics[this.task(id).epic ?? ''];
    if (!epic) throw new Error(`${id} was not split`);
    return epic;
  }

  /** Unmet until the unit stalls, and the council is asked or a human. */
  stall(id: string): this {
    this.on(id);
    for (let tree = 1; this.task(id).current !== null; tree += 1) this.unmet(`${id} ${tree}`);
    return this;
  }

  /** A good run of a task that is judged good. */
  good(id: string): string[] {
    return this.on(id).judge();
  }

  /** The merge of a child: what the epic's ref is afterwards is named after it. */
  merged(id: string): string[] {
    if (this.on(id).ready.run_kind !== 'integrate') throw new Error(`${id} is not being merged`);
    return this.judge();
  }

  /** Verified and merged. */
  done(id: string): string[] {
    const decided = this.good(id);
    return decided.includes('node_ready') && this.task(id).landing === 'integrate' ? this.merged(id) : decided;
  }

  recomposeDue(id = ROOT): string[] {
    return this.send({
      type: 'timer_due',
      timer: { kind: 'recompose', task: id, attempt: this.epic(id).recompose.failed },
    });
  }
}

/** A root that stalled and was split in two: children `r1.1` and `r1.2` run. */
export const splitInTwo = (modeSpec: ModeSpec = mode(), spec: TaskSpec = taskSpec()): EpicPlay => {
  const play = new EpicPlay(modeSpec);
  play.submit(spec);
  play.stall(ROOT).split(ROOT, [slice('api'), slice('web')]);
  return play;
};

export const API = `${ROOT}.1`;
export const WEB = `${ROOT}.2`;

export const two = (): NodeSpec[] => [nodeSpec({ id: 'one' }), nodeSpec({ id: 'two' })];
