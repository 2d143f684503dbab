import type { ModeSpec, ProtocolRef, ProtocolSpec } from '@fixpoint/contracts/documents/protocol';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import { readEvent } from '@fixpoint/contracts/events/parse-event';
import { protocolStream } from '@fixpoint/contracts/streams';
import { builtInProtocol, builtInProtocolRef } from './built-in-protocol.ts';

/** The protocol version that a lineage is pinned to is not in the store, or has no such mode, or another content. */
export class ProtocolUnknown extends Error {
  override readonly name = 'ProtocolUnknown';
}

/** A project has published protocols, and all of them were withdrawn: nothing may be admitted. */
export class ProtocolWithdrawn extends Error {
  override readonly name = 'ProtocolWithdrawn';
}

type Scope = EventNamed<'task_submitted'>['data']['scope'];
type ReadStream = (stream: string) => Promise<readonly RecordedEvent[]>;

/** One version of a project's protocol, as it was published, and why it must not be used any more. */
export interface ProtocolVersion {
  readonly published: EventNamed<'protocol_published'>['data'];
  readonly withdrawn: EventNamed<'protocol_withdrawn'>['data'] | null;
}

/** Published protocols, by the reference that lineages carry. */
export interface ProtocolCatalog {
  /**
   * The mode that a lineage runs under. A version never changes, so it is read once and kept.
   * @throws {ProtocolUnknown} when there is no such version or mode.
   */
  modeOf(scope: Scope, protocol: ProtocolRef): Promise<ModeSpec>;
  /**
   * The newest version of a project's protocol that was not withdrawn, read anew each time; `default@1` when none was
   * published.
   * @throws {ProtocolWithdrawn} when all were.
   */
  current(project: string): Promise<{ readonly ref: ProtocolRef; readonly spec: ProtocolSpec }>;
  /** Why a version was withdrawn, or null; at most `staleMs` old. */
  withdrawnReason(project: string, protocol: ProtocolRef): Promise<string | null>;
}

export interface Staleness {
  /** How long an answer about withdrawals may be used, ms. */
  readonly staleMs: number;
  /** Monotonic, ms. */
  readonly now: () => number;
}

const FIVE_SECONDS: Staleness = { staleMs: 5_000, now: () => performance.now() };

/** Of a project, the first one first. */
export const protocolVersions = async (readStream: ReadStream, project: string): Promise<ProtocolVersion[]> => {
  const versions: ProtocolVersion[] = [];
  for (const event of await readStream(protocolStream(project))) {
    if (event.type === 'protocol_published') {
      versions.push({ published: readEvent(event, 'protocol_published'), withdrawn: null });
    } else if (event.type === 'protocol_withdrawn') {
      const withdrawn = readEvent(event, 'protocol_withdrawn');
      const at = versions.findIndex(({ published }) => published.protocol_version === withdrawn.protocol_version);
      const version = versions[at];
      if (version) versions[at] = { ...version, withdrawn };
    }
  }
  return versions;
};

/** Built in, and the same name in every release: a lineage that an earlier one admitted goes on under this one's. */
const isBuiltIn = ({ name }: ProtocolRef): boolean => name === builtInProtocolRef.name;

/** @param readStream all events of a stream in version order, empty when there are none. */
export const protocolCatalog = (readStream: ReadStream, staleness: Staleness = FIVE_SECONDS): ProtocolCatalog => {
  const known = new Map<string, ProtocolSpec>();
  const keyOf = (project: string, hash: string): string => `${project} ${hash}`;
  const withdrawals = withdrawalsOf(readStream, staleness);

  const specOf = async (project: string, ref: ProtocolRef): Promise<ProtocolSpec> => {
    if (isBuiltIn(ref)) return builtInProtocol;
    const key = keyOf(project, ref.hash);
    if (!known.has(key)) {
      for (const { published } of await protocolVersions(readStream, project)) {
        known.set(keyOf(project, published.hash), published.spec);
      }
    }
    const spec = known.get(key);
    if (!spec) throw new ProtocolUnknown(`${ref.name}@${ref.version} of project ${project} is not published`);
    return spec;
  };

  return {
    modeOf: async (scope, protocol) => {
      const { modes } = await specOf(scope.project, protocol);
      const mode = Object.hasOwn(modes, scope.mode) ? modes[scope.mode] : undefined;
      if (!mode) throw new ProtocolUnknown(`${protocol.name}@${protocol.version} has no mode ${scope.mode}`);
      return mode;
    },
    current: async (project) => {
      const versions = await protocolVersions(readStream, project);
      if (versions.length === 0) return { ref: builtInProtocolRef, spec: builtInProtocol };
      const newest = versions.findLast(({ withdrawn }) => withdrawn === null);
      if (!newest) throw new ProtocolWithdrawn(`every version of the protocol of project ${project} was withdrawn`);
      const { name, protocol_version: version, hash, spec } = newest.published;
      return { ref: { name, version, hash }, spec };
    },
    withdrawnReason: async (project, ref) =>
      isBuiltIn(ref) ? null : ((await withdrawals(project)).get(ref.version) ?? null),
  };
};

type Reasons = ReadonlyMap<number, string>;

/** Asked for every decision, so each project's answer is kept for a while; a failed read is asked again at once. */
const withdrawalsOf = (
  readStream: ReadStream,
  { staleMs, now }: Staleness,
): ((project: string) => Promise<Reasons>) => {
  const kept = new Map<string, { readonly at: number; readonly reasons: Promise<Reasons> }>();
  return (project) => {
    const last = kept.get(project);
    if (last !== undefined && now() - last.at < staleMs) return last.reasons;
    const reasons = reasonsOf(readStream, project);
    kept.set(project, { at: now(), reasons });
    reasons.catch(() => kept.delete(project));
    return reasons;
  };
};

const reasonsOf = async (readStream: ReadStream, project: string): Promise<Reasons> => {
  const versions = await protocolVersions(readStream, project);
  return new Map(
    versions.flatMap(({ published, withdrawn }) =>
      withdrawn === null ? [] : [[published.protocol_version, withdrawn.reason] as const],
    ),
  );
};
