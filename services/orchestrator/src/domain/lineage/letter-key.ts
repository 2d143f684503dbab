import type { EventNamed } from '@fixpoint/contracts/events/catalogue';

type Told = Pick<EventNamed<'dead_lettered'>['data'], 'reader' | 'event_id' | 'deliveries'>;

/** A letter that was replayed and failed again is another one: it counts its deliveries on. */
export const letterKey = ({ reader, event_id, deliveries }: Told): string => `${reader} ${event_id} ${deliveries}`;
