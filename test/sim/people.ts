import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { parseEvent } from '@fixpoint/contracts/events/parse-event';
import type { DecisionKind } from '@fixpoint/contracts/human-decision';
import type { AskedDecision } from '@fixpoint/contracts/rest/handoffs';
import { claimHandoff, decideHandoff } from '@fixpoint/orchestrator/writing/handoffs';
import { fixedId } from '../world/foundations.ts';
import { ask } from './ask.ts';
import type { SimWorld } from './sim-world.ts';

/** A handoff as people see it. */
interface Seen {
  readonly id: string;
  readonly task: string;
  readonly node: string | null;
  readonly project: string;
  readonly version: number;
  readonly decisions: readonly DecisionKind[];
  /** It is about a child that will never be done. */
  readonly isHeld: boolean;
}

const SHOWN: ReadonlySet<string> = new Set([
  ...['task_submitted', 'human_required', 'handoff_updated', 'handoff_claimed', 'human_decided', 'handoff_withdrawn'],
]);

/** The handoffs that nobody has decided, of a log that grows: it is read on from where it was. */
class Inbox {
  readonly open = new Map<string, Seen>();
  readonly #log: readonly RecordedEvent[];
  readonly #projects = new Map<string, string>();
  #read = 0;

  constructor(log: readonly RecordedEvent[]) {
    this.#log = log;
  }

  look(): readonly Seen[] {
    for (const event of this.#log.slice(this.#read)) if (SHOWN.has(event.type)) this.#note(event);
    this.#read = this.#log.length;
    return [...this.open.values()];
  }

  #note(recorded: RecordedEvent): void {
    const event = parseEvent(recorded);
    switch (event.type) {
      case 'task_submitted':
        this.#projects.set(recorded.root, event.data.spec.project);
        break;
      case 'human_required': {
        const { handoff: id, task, version, decisions, slice, stage } = event.data;
        const project = this.#projects.get(recorded.root) ?? '';
        this.open.set(id, { id, task, version, decisions, project, node: slice.node_id, isHeld: stage === 'held' });
        break;
      }
      case 'handoff_updated':
      case 'handoff_claimed': {
        const seen = this.open.get(event.data.handoff);
        if (seen !== undefined) this.open.set(seen.id, { ...seen, version: event.data.version ?? seen.version });
        break;
      }
      case 'human_decided':
      case 'handoff_withdrawn':
        this.open.delete(event.data.handoff);
        break;
      default:
    }
  }
}

const HOUR_MS = 3_600_000;

/** A task whose nodes take the place of those that stand still. */
const another = ({ project, node }: Seen) => ({
  ...{ kind: 'task/v1', name: 'another', project, goal: 'It is there after all' },
  nodes: [{ id: node ?? 'another', goal: 'It is red', recipe: { command: 'echo red > colour' } }],
});

/** What somebody may want done about a handoff, whether it allows that or not. */
const WISHES: readonly ((seen: Seen) => AskedDecision)[] = [
  () => ({ kind: 'retry' }),
  (seen) => ({ kind: 'amend', document: another(seen) }),
  () => ({ kind: 'approve' }),
  () => ({ kind: 'override' }),
  () => ({ kind: 'split', hint: 'one part for each file' }),
  () => ({ kind: 'resolve' }),
  ({ task }) => ({ kind: 'resolve', exclude_children: [`${task}.1`] }),
  ({ task }) => ({ kind: 'resolve', exclude_children: [`${task}.2`, `${task}.3`] }),
  () => ({ kind: 'extend', limits: { execute: 9, faults: 9 } }),
  () => ({ kind: 'extend', limits: { iterations: 90, max_total_fix_attempts: 12, max_recovery_depth: 4 } }),
  () => ({ kind: 'extend', limits: { deadline_ms: 30 * HOUR_MS } }),
  () => ({ kind: 'abandon' }),
];

const MOST_CHILDREN = 3;

/** One of the children of a split unit is left out, whether it is the one that holds it or not. */
const exclusionOf = ({ choices }: SimWorld, { task, isHeld }: Seen, key: string): AskedDecision | null => {
  const child = isHeld ? choices.pick('excludes', key, { share: 0.6, options: MOST_CHILDREN }) : 0;
  return child === 0 ? null : { kind: 'resolve', exclude_children: [`${task}.${child}`] };
};

/** Mostly what the handoff allows. */
const wishOf = ({ choices }: SimWorld, seen: Seen, key: string): AskedDecision => {
  const allowed = WISHES.filter((wish) => seen.decisions.includes(wish(seen).kind));
  const among = choices.happens('wants_the_impossible', key, 0.1) || allowed.length === 0 ? WISHES : allowed;
  const place = choices.pick('wish', key, { share: 0.9, options: among.length });
  const wish = among[place - 1] ?? among[0];
  return wish === undefined ? { kind: 'retry' } : wish(seen);
};

const MINUTE_MS = 60_000;

/** Humans who look at what they are asked, at random times; some are hasty, some are two. */
export const people = (world: SimWorld): (() => Promise<void>) => {
  const { choices } = world;
  const inbox = new Inbox(world.log);

  const decide = (seen: Seen, key: string): Promise<void> => {
    const version = choices.happens('looked_long_ago', key, 0.05) ? seen.version + 1 : seen.version;
    const decision = exclusionOf(world, seen, key) ?? wishOf(world, seen, key);
    const body = { version, decision, decision_id: fixedId(key).uuid() };
    const order = { handoff: seen.id, body, actor: 'human', authenticated: 'api_key' } as const;
    const dryRun = choices.happens('dry_run', key, 0.05);
    return ask(world, ({ handoffs }) => decideHandoff(handoffs, { ...order, dryRun }));
  };

  const claim = ({ id, version }: Seen): Promise<void> =>
    ask(world, ({ handoffs }) => claimHandoff(handoffs, { handoff: id, version, actor: 'human', for_ms: HOUR_MS }));

  const attend = async (seen: Seen, key: string): Promise<void> => {
    if (choices.happens('claimed', key, 0.02)) await claim(seen);
    if (!choices.happens('decided', key, 0.06)) return;
    const keys = choices.happens('decided_by_two', key, 0.1) ? [key, `${key} too`] : [key];
    await Promise.all(keys.map((each) => decide(seen, each)));
  };

  return async () => {
    const minute = Math.floor(world.clock.monotonicMs() / MINUTE_MS);
    for (const seen of inbox.look()) await attend(seen, `${seen.id} minute ${minute}`);
  };
};
