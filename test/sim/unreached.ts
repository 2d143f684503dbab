import { type EventType, eventCatalogue } from '@fixpoint/contracts/events/catalogue';

/** Types that the worlds of a test run can not be relied on to have, each with the reason. */
const NOT_HERE: Partial<Record<EventType, string>> = {
  split_refused:
    'two units of a lineage have to be granted its last children in the same moment: too seldom to wait for',
};

/** Types of the catalogue that these worlds should have had and had not. */
export const unreached = (counts: Readonly<Record<string, number>>): readonly string[] =>
  eventCatalogue.map(({ type }) => type).filter((type) => !(type in counts) && !(type in NOT_HERE));
