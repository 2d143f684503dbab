import { definitionOf } from '@fixpoint/contracts/events/catalogue';
import { cursorToken } from '@fixpoint/contracts/rest/cursor-token';
import type { ProtocolVersionRow, WithdrawnProtocol } from '@fixpoint/contracts/rest/protocols';
import { protocolStream } from '@fixpoint/contracts/streams';
import { type ProtocolVersion, protocolVersions } from '@fixpoint/documents/protocol-catalog';
import { runDecision } from '@fixpoint/event-store/run-decision';
import { stateCache } from '@fixpoint/event-store/state-cache';
import { type Protocol, protocol } from '../domain/protocol/publish.ts';
import type { PublishDeps } from './publish-protocol.ts';

const WITHDRAW = 'orchestrator__withdraw_protocol';

export interface Withdrawal {
  readonly project: string;
  readonly version: number;
  readonly reason: string;
  readonly actor: string;
}

/**
 * Takes a version out of use; the first reason stays.
 * @throws {Refused} `protocol_version_unknown`.
 */
export const withdrawProtocol = async (
  { store, clock }: PublishDeps,
  { project, version, reason, actor }: Withdrawal,
): Promise<WithdrawnProtocol> => {
  const stream = protocolStream(project);
  const now = clock.now().toISOString();
  const shell = {
    ...{ store, clock, decider: protocol, handler: WITHDRAW, states: stateCache<Protocol>(1) },
    schemaVersionOf: (type: string) => definitionOf(type)?.version ?? 1,
  };
  const cause = { id: `withdraw:${stream}:${version}`, time: now, actor, correlation_id: stream };
  const command = { type: 'withdraw_protocol', version, reason, now } as const;
  const { events } = await runDecision(shell, { stream, root: stream, command, cause });
  const history = await store.readStream(stream);
  const row = (await versionsOf({ store }, project)).find((each) => each.version === version);
  const last = events.at(-1) ?? history.at(-1);
  if (!row || !last) throw new Error(`${stream} can not be read`);
  return { ...row, changed: events.length > 0, cursor: cursorToken(last.cursor) };
};

/** Of a project, the first one first. */
const versionsOf = async ({ store }: Pick<PublishDeps, 'store'>, project: string): Promise<ProtocolVersionRow[]> =>
  (await protocolVersions((stream) => store.readStream(stream), project)).map(versionRow);

export const versionRow = ({ published, withdrawn }: ProtocolVersion): ProtocolVersionRow => ({
  project: published.project,
  name: published.name,
  version: published.protocol_version,
  hash: published.hash,
  published_at: published.published_at,
  withdrawn: withdrawn && { reason: withdrawn.reason, withdrawn_at: withdrawn.withdrawn_at },
});
