import type { RecordedEvent } from '@fixpoint/contracts/envelope';

const BEGINS_AT = ['recompose_started', 'human_decided', 'handoff_expired'];

interface AboutNode {
  readonly task?: string;
  readonly node_id: string;
  readonly node_index?: number | null;
  readonly run_kind?: string;
}

/** What is landed once more begins with no node again. */
const LANDS = ['integrate', 'deliver'];

/** What a task has passed. What is merged, assembled or decided begins again at some node. */
class Passed {
  nodes: string[] = [];
  #back: number | null = null;

  note(type: string, { node_id: id, node_index: index, run_kind: kind = '' }: AboutNode): void {
    if (type === 'node_completed' || type === 'node_skipped') this.nodes.push(id);
    if (type === 'integration_failed') this.nodes = [];
    if (BEGINS_AT.includes(type)) this.#back = index ?? null;
    if (type !== 'node_ready') return;
    if (this.#back !== null && !LANDS.includes(kind)) this.nodes = this.nodes.slice(0, this.#back);
    this.#back = null;
  }
}

/** Ids of the nodes that a task has passed, in order. */
export const passedBy = (events: readonly RecordedEvent[], task: string): readonly string[] => {
  const passed = new Passed();
  for (const { type, data } of events) {
    const about = data as AboutNode;
    if (about.task === task) passed.note(type, about);
  }
  return passed.nodes;
};
