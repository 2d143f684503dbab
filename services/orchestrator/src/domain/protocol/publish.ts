import type { ProtocolSpec } from '@fixpoint/contracts/documents/protocol';
import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import type { Decider } from '@fixpoint/decider/decider';
import { Refused } from '@fixpoint/decider/refused';

export interface PublishProtocol {
  readonly type: 'publish_protocol';
  readonly spec: ProtocolSpec;
  /** sha256 of the spec with all its defaults. */
  readonly hash: string;
  /** ISO 8601, UTC. */
  readonly now: string;
}

export interface WithdrawProtocol {
  readonly type: 'withdraw_protocol';
  readonly version: number;
  readonly reason: string;
  /** ISO 8601, UTC. */
  readonly now: string;
}

interface Version {
  readonly project: string;
  readonly name: string;
  readonly hash: string;
  readonly isWithdrawn: boolean;
}

/** Its versions, the first one first. */
export interface Protocol {
  readonly versions: readonly Version[];
}

type ProtocolEvent = EventNamed<'protocol_published' | 'protocol_withdrawn'>;

const publish = ({ spec, hash, now }: PublishProtocol, { versions }: Protocol): ProtocolEvent[] => {
  const newest = versions.at(-1);
  if (newest?.hash === hash && !newest.isWithdrawn) return [];
  const { project, name } = spec;
  const protocol_version = versions.length + 1;
  return [{ type: 'protocol_published', data: { project, name, protocol_version, hash, spec, published_at: now } }];
};

/** What runs under it starts nothing new, and nothing is admitted under it any more; what it said stays. */
const withdraw = ({ version, reason, now }: WithdrawProtocol, { versions }: Protocol): ProtocolEvent[] => {
  const known = versions[version - 1];
  if (known === undefined) throw new Refused('protocol_version_unknown', String(version));
  if (known.isWithdrawn) return [];
  const { project, name, hash } = known;
  return [
    { type: 'protocol_withdrawn', data: { project, name, protocol_version: version, hash, reason, withdrawn_at: now } },
  ];
};

const evolve = (state: Protocol, event: ProtocolEvent): Protocol => {
  const { versions } = state;
  if (event.type === 'protocol_published') {
    const { project, name, hash } = event.data;
    return { versions: [...versions, { project, name, hash, isWithdrawn: false }] };
  }
  if (event.type !== 'protocol_withdrawn') return state;
  const withdrawn = event.data.protocol_version - 1;
  return { versions: versions.map((each, index) => (index === withdrawn ? { ...each, isWithdrawn: true } : each)) };
};

/** Stream `protocol-{project}`: its versions, one after the other. What a version says never changes. */
export const protocol: Decider<PublishProtocol | WithdrawProtocol, ProtocolEvent, Protocol> = {
  initial: { versions: [] },
  decide: (command, state) =>
    command.type === 'publish_protocol' ? publish(command, state) : withdraw(command, state),
  evolve,
};
