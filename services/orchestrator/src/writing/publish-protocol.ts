import type { Clock } from '@fixpoint/contracts/clock';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { definitionOf } from '@fixpoint/contracts/events/catalogue';
import { readEvent } from '@fixpoint/contracts/events/parse-event';
import { cursorToken } from '@fixpoint/contracts/rest/cursor-token';
import type { Diagnostic } from '@fixpoint/contracts/rest/errors';
import type { PublishedProtocol } from '@fixpoint/contracts/rest/protocols';
import type { DocumentInput } from '@fixpoint/contracts/rest/tasks';
import { protocolStream } from '@fixpoint/contracts/streams';
import { parseProtocol } from '@fixpoint/documents/parse-protocol';
import { protocolSpecHash } from '@fixpoint/documents/spec-hash';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { runDecision } from '@fixpoint/event-store/run-decision';
import { stateCache } from '@fixpoint/event-store/state-cache';
import { knownPrimitives } from '@fixpoint/execution/primitives/primitives';
import { deniedBy } from '@fixpoint/validation/command-rules';
import { type Protocol, protocol } from '../domain/protocol/publish.ts';
import { textOf, told } from './admission.ts';

const PUBLISH = 'orchestrator__publish_protocol';

export interface PublishDeps {
  readonly store: EventStore;
  readonly clock: Clock;
}

export type Publishing =
  | { readonly published: true; readonly protocol: PublishedProtocol }
  | { readonly published: false; readonly diagnostics: readonly Diagnostic[] };

/**
 * Publishes a version of a project's protocol, unless the newest one says the same.
 * @throws {DecisionContended} when others publish at the same time, again and again.
 * @throws {AppendRejected} when it does not fit into an event.
 */
export const publishProtocol = async (
  { store, clock }: PublishDeps,
  document: DocumentInput,
  actor: string,
): Promise<Publishing> => {
  const { spec, diagnostics: found } = parseProtocol(textOf(document), { knownPrimitives, deniedBy });
  const diagnostics = told(found);
  if (spec === null) return { published: false, diagnostics };
  const stream = protocolStream(spec.project);
  const hash = protocolSpecHash(spec);
  const now = clock.now().toISOString();
  const shell = {
    ...{ store, clock, decider: protocol, handler: PUBLISH, states: stateCache<Protocol>(1) },
    schemaVersionOf: (type: string) => definitionOf(type)?.version ?? 1,
  };
  const cause = { id: `publish:${stream}:${hash}:${now}`, time: now, actor, correlation_id: stream };
  const command = { type: 'publish_protocol', spec, hash, now } as const;
  const { events } = await runDecision(shell, { stream, root: stream, command, cause });
  const newest = events[0] ?? (await store.readStream(stream)).findLast(({ type }) => type === 'protocol_published');
  if (!newest) throw new Error(`${stream} has no version and none was published`);
  return { published: true, protocol: answerOf(newest, events.length > 0, diagnostics) };
};

const answerOf = (event: RecordedEvent, created: boolean, diagnostics: readonly Diagnostic[]): PublishedProtocol => {
  const { project, name, protocol_version: version, hash } = readEvent(event, 'protocol_published');
  return { project, name, version, hash, created, cursor: cursorToken(event.cursor), diagnostics: [...diagnostics] };
};
