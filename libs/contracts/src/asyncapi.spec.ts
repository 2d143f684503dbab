import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { asyncApi } from './asyncapi.ts';
import { eventCatalogue } from './events/catalogue.ts';

const document = JSON.parse(JSON.stringify(asyncApi()));

/** What a `#/a/b` reference points to. */
const resolve = (reference: string): unknown =>
  reference
    .slice(2)
    .split('/')
    .reduce((inner, key) => inner?.[key], document);

describe('the AsyncAPI document', () => {
  test('that is checked in is current; `npm run generate` writes it', () => {
    const checkedIn = readFileSync(new URL('../../../docs/asyncapi.json', import.meta.url), 'utf8');
    expect(JSON.parse(checkedIn)).toEqual(document);
  });

  test('has every event with its owner', () => {
    for (const { type, owners } of eventCatalogue) {
      expect(document.components.messages[type]['x-owners']).toEqual(owners);
    }
  });

  test('has no reference that leads nowhere', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
      ([, reference = '']) => reference,
    );
    expect(references.length).toBeGreaterThan(20);
    for (const reference of references)
      expect([reference, resolve(reference)]).toEqual([reference, expect.any(Object)]);
  });

  test('has every event on the feed, as a CloudEvent without what is withheld', () => {
    expect(Object.keys(document.channels.feed.messages)).toEqual(eventCatalogue.map(({ type }) => type));
    const passed = document.components.messages.fed_governance_passed;
    expect(passed.traits).toEqual([{ $ref: '#/components/messageTraits/cloud_event' }]);
    expect(Object.keys(passed.payload.properties)).toContain('firewall_hash');
    expect(JSON.stringify([passed.payload.properties, passed.payload.required])).not.toContain('"token"');
  });

  test('says who reads what', () => {
    expect(document.operations.validator__gate).toEqual({
      action: 'receive',
      channel: { $ref: '#/channels/work' },
      messages: [{ $ref: '#/channels/work/messages/node_ready' }],
    });
  });
});
