import { z } from 'zod';
import { defineEvent } from './define.ts';

export const deadLettered = defineEvent({
  type: 'dead_lettered',
  owners: ['orchestrator', 'validator', 'executor', 'decomposer', 'auditor'],
  version: 1,
  description: 'A reader failed on an event as often as it may, while store and bus were healthy.',
  data: z.object({
    service: z.string(),
    reader: z.string(),
    event_id: z.string(),
    event_type: z.string(),
    event_version: z.int(),
    /** Null for events outside a lineage or too broken to tell. */
    root: z.string().nullable(),
    task: z.string().nullable(),
    run: z.int().nullable(),
    deliveries: z.int().positive(),
    reason: z.string(),
  }),
});

/** What is said of a dead letter again with every step of it. */
const letterRef = {
  letter: z.string(),
  service: z.string(),
  reader: z.string(),
  event_id: z.string(),
  event_type: z.string(),
  root: z.string().nullable(),
  task: z.string().nullable(),
  run: z.int().nullable(),
  /** Failed deliveries so far; never falls. */
  deliveries: z.int().positive(),
};

const deadLetterReplayed = defineEvent({
  type: 'dead_letter_replayed',
  owners: ['orchestrator'],
  version: 1,
  description: 'Somebody had the event of a dead letter offered to its reader once more. The actor is in the metadata.',
  data: z.object({
    ...letterRef,
    /** This one included. */
    replays: z.int().positive(),
  }),
});

const deadLetterDiscarded = defineEvent({
  type: 'dead_letter_discarded',
  owners: ['orchestrator'],
  version: 1,
  description:
    'Somebody decided that the event of a dead letter is skipped by its reader. The actor is in the metadata.',
  data: z.object({ ...letterRef, reason: z.string() }),
});

export const sharedEvents = [deadLettered, deadLetterReplayed, deadLetterDiscarded] as const;
