import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { parseEvent } from '@fixpoint/contracts/events/parse-event';
import { escalateSchema } from '@fixpoint/contracts/rest/escalations';
import { cancelTask } from '@fixpoint/orchestrator/writing/cancel';
import { escalate } from '@fixpoint/orchestrator/writing/escalate';
import { withdrawProtocol } from '@fixpoint/orchestrator/writing/withdraw-protocol';
import { ask } from './ask.ts';
import type { SimWorld } from './sim-world.ts';

interface Unit {
  readonly lineage: string;
  readonly task: string;
}

/** The units of a log that grows, and the projects that have a protocol of their own. */
class Known {
  readonly units: Unit[] = [];
  readonly projects: string[] = [];
  readonly #log: readonly RecordedEvent[];
  #read = 0;

  constructor(log: readonly RecordedEvent[]) {
    this.#log = log;
  }

  look(): this {
    for (const event of this.#log.slice(this.#read)) this.#note(event);
    this.#read = this.#log.length;
    return this;
  }

  #note(recorded: RecordedEvent): void {
    if (!NAMING.has(recorded.type)) return;
    const event = parseEvent(recorded);
    const lineage = recorded.root;
    if (event.type === 'protocol_published') this.projects.push(event.data.spec.project);
    if (event.type === 'task_submitted') this.units.push({ lineage, task: '0' });
    if (event.type === 'child_submitted') this.units.push({ lineage, task: event.data.child.address });
    if (event.type !== 'epic_opened') return;
    this.units.push(...event.data.children.map(({ address }) => ({ lineage, task: address })));
  }
}

const NAMING: ReadonlySet<string> = new Set([
  ...['protocol_published', 'task_submitted', 'child_submitted', 'epic_opened'],
]);

/** What a producer may hand in of what it could not finish. */
const ESCALATIONS = [
  {
    task: {
      ...{ kind: 'task/v1', name: 'left-over', project: 'left-over', goal: 'It is red' },
      nodes: [
        {
          ...{ id: 'paint', goal: 'It is red', recipe: { command: 'echo red > colour' } },
          postcondition: { command: 'grep -q red colour' },
        },
      ],
    },
  },
  { project: 'left-over' },
  { project: 'left-over', about: 'machinery' },
] as const;

const MINUTE_MS = 60_000;
const MOST_ESCALATIONS = 2;

/** Whoever hands work in, and calls it back: cancels, escalations, protocols that are withdrawn, at random times. */
export const producers = (world: SimWorld): (() => Promise<void>) => {
  const { choices } = world;
  const known = new Known(world.log);
  let escalations = 0;

  const escalateSomething = async (key: string): Promise<void> => {
    const option = choices.pick('escalates', key, { share: 0.01, options: ESCALATIONS.length });
    const said = ESCALATIONS[option - 1];
    if (said === undefined || escalations === MOST_ESCALATIONS) return;
    escalations += 1;
    const [first] = known.units;
    const about = { what: key, stage: 'spike', diagnosis: 'it went on and on', caused_by: first?.lineage ?? null };
    const escalation = escalateSchema.parse({ ...about, ...said, idempotency_key: key });
    await ask(world, ({ orchestrator }) =>
      escalate({ ...orchestrator.submissions, artifacts: world.ground.artifacts }, escalation, { actor: 'producer' }),
    );
  };

  return async () => {
    const minute = `minute ${Math.floor(world.clock.monotonicMs() / MINUTE_MS)}`;
    const { units, projects } = known.look();
    await escalateSomething(minute);
    for (const { lineage, task } of units) {
      if (!choices.happens('cancelled', `${lineage} ${task} ${minute}`, 0.002)) continue;
      const cancel = { lineage, task, reason: 'nobody wants it', actor: 'producer' };
      await ask(world, ({ orchestrator }) => cancelTask(orchestrator.cancels, cancel));
    }
    for (const project of projects) {
      if (!choices.happens('withdrawn', `${project} ${minute}`, 0.003)) continue;
      const withdrawal = { project, version: 1, reason: 'it was wrong', actor: 'producer' };
      await ask(world, () => withdrawProtocol(world.ground, withdrawal));
    }
  };
};
