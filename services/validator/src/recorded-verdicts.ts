import type { Clock } from '@fixpoint/contracts/clock';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { definitionOf } from '@fixpoint/contracts/events/catalogue';
import { readEvent } from '@fixpoint/contracts/events/parse-event';
import { verdictsStream } from '@fixpoint/contracts/streams';
import { fold } from '@fixpoint/decider/decider';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { runDecision } from '@fixpoint/event-store/run-decision';
import { stateCache } from '@fixpoint/event-store/state-cache';
import { causeOf } from './answer.ts';
import { type KeptVerdicts, keptVerdicts, keyOf } from './domain/kept-verdicts.ts';
import type { NodeReady } from './run-lookup.ts';
import { type RecordedVerdicts, runRefOf } from './verdicts.ts';

/** For questions that are over in a moment: asking again costs less than keeping. */
export const NOTHING_RECORDED: RecordedVerdicts = { of: () => undefined, keep: async () => undefined };

export interface LongQuestion {
  readonly run: NodeReady;
  readonly phase: 'gate' | 'judge';
  /** The event that asks. */
  readonly cause: RecordedEvent;
  /** What an event has room for, bytes of JSON. */
  readonly mostBytes: number;
}

/**
 * Verdicts that somebody recorded before they lost the question. Each is kept before the next validator is asked, so a
 * process that takes over asks only those that have not answered.
 */
export const recordedVerdicts = async (
  { store, clock }: { readonly store: EventStore; readonly clock: Pick<Clock, 'now'> },
  { run, phase, cause, mostBytes }: LongQuestion,
): Promise<RecordedVerdicts> => {
  const stream = verdictsStream(run.task, run.run);
  const events = (await store.readStream(stream)).map((event) => ({
    type: 'verdict_recorded' as const,
    data: readEvent(event, 'verdict_recorded'),
  }));
  const known = fold(keptVerdicts, keptVerdicts.initial, events);
  return {
    of: (validator) => known[keyOf(phase, validator)],
    keep: async (verdict) => {
      // One that would have to be cut is asked for again: it must come back as it was.
      if (Buffer.byteLength(JSON.stringify(verdict)) > mostBytes) return;
      // A validator answers once per cause: its name makes the ids of two answers differ.
      const handler = `validator__${phase}__${verdict.validator}`;
      const shell = {
        store,
        clock,
        decider: keptVerdicts,
        handler,
        states: stateCache<KeptVerdicts>(1),
        schemaVersionOf,
      };
      const command = { type: 'keep_verdict' as const, data: { ...runRefOf(run), phase, verdict } };
      const kept = runDecision(shell, { stream, root: run.root, command, cause: causeOf(cause) });
      // A store that is away now is there or not when the answer is stored; what was not kept is asked again, no worse.
      await kept.catch(() => undefined);
    },
  };
};

const schemaVersionOf = (type: string): number => definitionOf(type)?.version ?? 1;
