import type { Admitted } from '@fixpoint/orchestrator/domain/lineage/state';
import type { Rule } from './rule.ts';

const oneHandoff: Rule = {
  name: 'a unit has one open handoff: a second cause is added to it',
  ofEvent: ({ before, event }) => {
    if (event.type !== 'human_required') return [];
    const open = before.units[event.data.task]?.handoff ?? null;
    return open === null ? [] : [`${event.data.handoff} beside ${open.id}`];
  },
};

const namesWhatIsNeeded: Rule = {
  name: 'a handoff says what is wrong and what may be done about it',
  ofEvent: ({ event }) => {
    if (event.type !== 'human_required') return [];
    const { detail, decisions, handoff, slice } = event.data;
    return detail === '' || decisions.length === 0 || slice.goal === '' ? [handoff] : [];
  },
};

/** Longer than anything in these worlds is put off. */
const LONG_MS = 3 * 3_600_000;

const isWaiting = ({ tasks, units, epics }: Admitted, since: string): boolean =>
  Object.values(units).some(({ handoff }) => handoff !== null) ||
  Object.values(tasks).some(({ retry }) => retry !== null && retry.at > since) ||
  Object.values(epics).some(({ recompose }) => recompose.retryAt !== null && recompose.retryAt > since);

const notLeftToTheDeadline: Rule = {
  name: 'a lineage that waits for nobody is not left to its deadline',
  ofCommit: ({ before, events, mode }) => {
    if (mode.bounds.deadline_ms < 2 * LONG_MS || !events.some(({ type }) => type === 'deadline_passed')) return [];
    const since = new Date(Date.parse(before.deadlineAt) - LONG_MS).toISOString();
    return isWaiting(before, since) ? [] : [`${before.root} until ${before.deadlineAt}`];
  },
};

/** The human floor. */
export const handoffRules: readonly Rule[] = [oneHandoff, namesWhatIsNeeded, notLeftToTheDeadline];
