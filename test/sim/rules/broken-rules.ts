import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { EventNamed, LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { lineageStream } from '@fixpoint/contracts/streams';
import { lineage } from '@fixpoint/orchestrator/domain/lineage/decide';
import type { Admitted, Lineage } from '@fixpoint/orchestrator/domain/lineage/state';
import { modeOf } from '../../world/worst-case-invariant.ts';
import { counterRules } from './counters.ts';
import { endRules } from './ends.ts';
import { epicRules } from './epics.ts';
import { handoffRules } from './handoffs.ts';
import type { Commit, Rule } from './rule.ts';
import { verdictRules } from './verdicts.ts';
import { waitRules } from './waits.ts';

type Events = readonly RecordedEvent[];

/** Rules of lineages, checked after every event and every decision. */
const lineageRules: readonly Rule[] = [...endRules, ...counterRules, ...epicRules, ...handoffRules, ...waitRules];

const broken = (rules: readonly Rule[], name: (rule: Rule) => readonly string[]): readonly string[] =>
  rules.flatMap((rule) => name(rule).map((what) => `${rule.name}: ${what}`));

/** What one decision breaks. */
export const brokenBy = (commit: Commit, rules: readonly Rule[] = lineageRules): readonly string[] => {
  const found: string[] = [];
  let before: Lineage = commit.before;
  for (const event of commit.events) {
    const after: Lineage = lineage.evolve(before, event);
    if (before.status === 'admitted' && after.status === 'admitted') {
      const step = { before, event, after };
      found.push(...broken(rules, ({ ofEvent }) => ofEvent?.(step) ?? []));
    }
    before = after;
  }
  return [...found, ...broken(rules, ({ ofCommit }) => ofCommit?.(commit) ?? [])];
};

const ofLineage = (events: Events, submitted: EventNamed<'task_submitted'>['data']): readonly string[] => {
  const own = events.filter(({ stream }) => stream === lineageStream(submitted.root));
  const mode = modeOf(events, submitted);
  let state: Lineage = lineage.initial;
  return [...Map.groupBy(own, ({ cursor }) => cursor.xid).values()].flatMap((recorded) => {
    const decided = recorded as unknown as readonly LineageEvent[];
    const before: Lineage = state;
    state = decided.reduce<Lineage>(lineage.evolve, state);
    const after = state as Admitted;
    return before.status === 'unknown' ? [] : brokenBy({ before, events: decided, after, mode });
  });
};

/** Everything that histories of lineages break, each with the name of its rule. */
export const brokenRules = (events: Events): readonly string[] => [
  ...events
    .filter(({ type }) => type === 'task_submitted')
    .flatMap(({ data }) => ofLineage(events, data as EventNamed<'task_submitted'>['data'])),
  ...verdictRules.flatMap(({ name, broken: found }) => found(events).map((what) => `${name}: ${what}`)),
];
