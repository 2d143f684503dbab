import type { ProtocolSpec } from '@fixpoint/contracts/documents/protocol';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { describe, expect, test } from '@jest/globals';
import { builtInMode, builtInProtocol, builtInProtocolRef } from './built-in-protocol.ts';
import { ProtocolUnknown, ProtocolWithdrawn, protocolCatalog } from './protocol-catalog.ts';
import { protocolSpecHash } from './spec-hash.ts';

const spec = (execute: number): ProtocolSpec => ({
  name: 'strict',
  project: 'shop',
  modes: { build: { ...builtInMode, bounds: { ...builtInMode.bounds, execute } } },
});

const published = (protocol_version: number, of: ProtocolSpec): RecordedEvent => ({
  id: `e${protocol_version}`,
  type: 'protocol_published',
  schema_version: 1,
  data: {
    project: of.project,
    name: of.name,
    protocol_version,
    hash: protocolSpecHash(of),
    spec: of,
    published_at: '2026-01-01T00:00:00.000Z',
  },
  metadata: { causation_id: 'c', correlation_id: 'c', producer: 'p', actor: 'local' },
  occurred_at: '2026-01-01T00:00:00.000Z',
  root: `protocol-${of.project}`,
  stream: `protocol-${of.project}`,
  version: protocol_version,
  cursor: { epoch: 0, xid: '1', position: '1' },
  hash: 'h',
});

const shop = { project: 'shop', mode: 'build' };
const ref = (version: number, of: ProtocolSpec) => ({ name: of.name, version, hash: protocolSpecHash(of) });

/** A store with two versions of the protocol of `shop`, and the streams that were read. */
const twoVersions = () => {
  const reads: string[] = [];
  const catalog = protocolCatalog(async (stream) => {
    reads.push(stream);
    return stream === 'protocol-shop' ? [published(1, spec(1)), published(2, spec(2))] : [];
  });
  return { catalog, reads };
};

describe('protocols by reference', () => {
  test('a lineage keeps the version it was pinned to', async () => {
    const { catalog } = twoVersions();
    expect((await catalog.modeOf(shop, ref(1, spec(1)))).bounds.execute).toBe(1);
    expect((await catalog.modeOf(shop, ref(2, spec(2)))).bounds.execute).toBe(2);
  });

  test('F17 a lineage that an earlier release admitted under default@1 goes on under it', async () => {
    const { catalog } = twoVersions();
    const earlier = { ...builtInProtocolRef, hash: 'e'.repeat(64) };
    expect(await catalog.modeOf({ project: 'other', mode: 'build' }, earlier)).toBe(builtInMode);
  });

  test('a version is read once', async () => {
    const { catalog, reads } = twoVersions();
    await catalog.modeOf(shop, ref(1, spec(1)));
    await catalog.modeOf(shop, ref(1, spec(1)));
    await catalog.modeOf(shop, ref(2, spec(2)));
    expect(reads).toEqual(['protocol-shop']);
  });

  test('the built-in one is known without a store', async () => {
    const { catalog, reads } = twoVersions();
    expect(await catalog.modeOf({ project: 'any', mode: 'build' }, builtInProtocolRef)).toBe(builtInMode);
    expect(reads).toEqual([]);
  });

  test('an unpublished version, another content and an unknown mode are said to be unknown', async () => {
    const { catalog } = twoVersions();
    await expect(catalog.modeOf(shop, ref(3, spec(3)))).rejects.toThrow(ProtocolUnknown);
    await expect(catalog.modeOf({ project: 'other', mode: 'build' }, ref(1, spec(1)))).rejects.toThrow(ProtocolUnknown);
    await expect(catalog.modeOf({ project: 'shop', mode: 'constructor' }, ref(1, spec(1)))).rejects.toThrow(
      ProtocolUnknown,
    );
  });
});

describe('the protocol that a new task gets', () => {
  test('is the newest version of its project', async () => {
    const { catalog } = twoVersions();
    expect(await catalog.current('shop')).toEqual({ ref: ref(2, spec(2)), spec: spec(2) });
  });

  test('is the built-in one without a published one', async () => {
    const { catalog } = twoVersions();
    expect(await catalog.current('other')).toEqual({ ref: builtInProtocolRef, spec: builtInProtocol });
  });
});

describe('a version that was withdrawn', () => {
  const gone = (protocol_version: number): RecordedEvent => ({
    ...published(protocol_version, spec(protocol_version)),
    id: `w${protocol_version}`,
    type: 'protocol_withdrawn',
    data: {
      ...{ project: 'shop', name: 'strict', protocol_version, hash: protocolSpecHash(spec(protocol_version)) },
      ...{ reason: `bad ${protocol_version}`, withdrawn_at: '2026-01-01T00:00:00.000Z' },
    },
  });
  /** A catalog on a clock of its own, over a log that grows. */
  const growing = () => {
    const log = [published(1, spec(1)), published(2, spec(2))];
    const clock = { ms: 0, reads: 0 };
    const readStream = async () => {
      clock.reads += 1;
      return log;
    };
    return { log, clock, catalog: protocolCatalog(readStream, { staleMs: 100, now: () => clock.ms }) };
  };

  test('is not what new tasks run under: the newest one that is left is', async () => {
    const { catalog, log } = growing();
    log.push(gone(2));
    expect((await catalog.current('shop')).ref.version).toBe(1);
    log.push(gone(1));
    await expect(catalog.current('shop')).rejects.toThrow(ProtocolWithdrawn);
  });

  test('still says what it said, to the lineages that run under it', async () => {
    const { catalog, log } = growing();
    log.push(gone(1));
    expect((await catalog.modeOf(shop, ref(1, spec(1)))).bounds.execute).toBe(1);
  });

  test('is known to be after the time that an answer is kept, and read no oftener', async () => {
    const { catalog, clock, log } = growing();
    const asked = () => catalog.withdrawnReason('shop', ref(1, spec(1)));
    expect(await asked()).toBeNull();
    log.push(gone(1));
    clock.ms = 99;
    expect([await asked(), clock.reads]).toEqual([null, 1]);
    clock.ms = 100;
    expect([await asked(), clock.reads]).toEqual(['bad 1', 2]);
    expect(await catalog.withdrawnReason('shop', ref(2, spec(2)))).toBeNull();
    expect(await catalog.withdrawnReason('shop', builtInProtocolRef)).toBeNull();
  });
});
