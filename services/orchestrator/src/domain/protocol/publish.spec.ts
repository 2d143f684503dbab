import type { ProtocolSpec } from '@fixpoint/contracts/documents/protocol';
import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import { given } from '@fixpoint/decider/given';
import { describe, expect, test } from '@jest/globals';
import { type PublishProtocol, protocol, type WithdrawProtocol } from './publish.ts';

const NOW = '2026-01-01T00:00:00.000Z';
const spec: ProtocolSpec = { name: 'strict', project: 'shop', modes: {} };
const hashOf = (content: string): string => content.repeat(64);

const publish = (content: string): PublishProtocol => ({
  type: 'publish_protocol',
  spec,
  hash: hashOf(content),
  now: NOW,
});
const published = (protocol_version: number, content: string): EventNamed<'protocol_published'> => ({
  type: 'protocol_published',
  data: { project: 'shop', name: 'strict', protocol_version, hash: hashOf(content), spec, published_at: NOW },
});

const withdraw = (version: number): WithdrawProtocol => ({
  type: 'withdraw_protocol',
  version,
  reason: 'its lint says yes to everything',
  now: NOW,
});
const withdrawn = (protocol_version: number, content: string): EventNamed<'protocol_withdrawn'> => ({
  type: 'protocol_withdrawn',
  data: {
    ...{ project: 'shop', name: 'strict', protocol_version, hash: hashOf(content) },
    ...{ reason: 'its lint says yes to everything', withdrawn_at: NOW },
  },
});

describe('the protocol of a project', () => {
  test('begins with version 1', () => given(protocol).when(publish('a')).then(published(1, 'a')));
  test('is the same version when the newest one says the same', () =>
    given(protocol, published(1, 'a')).when(publish('a')).thenNothing());
  test('gets the next version with other content', () =>
    given(protocol, published(1, 'a')).when(publish('b')).then(published(2, 'b')));
  test('gets a new version for content that an older one had', () =>
    given(protocol, published(1, 'a'), published(2, 'b')).when(publish('a')).then(published(3, 'a')));
  test('F17 of which a version is withdrawn keeps what it said, and goes on with the next number', () => {
    given(protocol, published(1, 'a')).when(withdraw(1)).then(withdrawn(1, 'a'));
    given(protocol, published(1, 'a'), withdrawn(1, 'a')).when(publish('b')).then(published(2, 'b'));
  });
  test('is published anew when the newest one, which says the same, was withdrawn', () =>
    given(protocol, published(1, 'a'), withdrawn(1, 'a')).when(publish('a')).then(published(2, 'a')));
  test('has a version withdrawn once', () =>
    given(protocol, published(1, 'a'), withdrawn(1, 'a')).when(withdraw(1)).thenNothing());
  test('has no version withdrawn that it does not have', () =>
    given(protocol, published(1, 'a')).when(withdraw(2)).thenRefused('protocol_version_unknown'));
  test('ignores events of a later release', () => {
    const state = protocol.evolve(protocol.initial, { type: 'protocol_unheard_of', data: {} } as never);
    expect(state).toEqual(protocol.initial);
  });
});
