import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { cloudEventOf, withheldKeys } from './cloud-event.ts';
import type { RecordedEvent } from './envelope.ts';
import { eventCatalogue } from './events/catalogue.ts';

const event: RecordedEvent = {
  id: 'e1',
  type: 'task_completed',
  schema_version: 2,
  data: { b: 1, a: 'x' },
  metadata: { causation_id: 'c', correlation_id: 'r', producer: 'orchestrator__decide', actor: 'ada' },
  occurred_at: '2026-01-01T00:00:00.000Z',
  root: 'r',
  stream: 'lineage-r',
  version: 3,
  cursor: { epoch: 1, xid: '12', position: '7' },
  hash: '00',
};

describe('an event for everyone else', () => {
  test('is a CloudEvent in binary mode', () => {
    expect(cloudEventOf(event, '/fixpoint')).toEqual({
      headers: {
        'ce-specversion': '1.0',
        'ce-id': 'e1',
        'ce-source': '/fixpoint',
        'ce-type': 'fixpoint.task_completed',
        'ce-subject': 'lineage-r',
        'ce-time': '2026-01-01T00:00:00.000Z',
        'ce-datacontenttype': 'application/json',
        'ce-schemaversion': '2',
        'ce-root': 'r',
        'ce-streamversion': '3',
        'ce-cursor': '1.12.7',
        'ce-causationid': 'c',
        'ce-correlationid': 'r',
        'ce-producer': 'orchestrator__decide',
        'ce-actor': 'ada',
      },
      body: '{"b":1,"a":"x"}',
    });
  });

  test('N5: has headers of which none could be taken for a message id, and names that CloudEvents allows', () => {
    const traced = { ...event, metadata: { ...event.metadata, traceparent: '00-1-2-01' } };
    const names = Object.keys(cloudEventOf(traced, '/fixpoint').headers);
    expect(names).toContain('ce-traceparent');
    for (const name of names) expect(name).toMatch(/^ce-[a-z0-9]{1,20}$/);
  });

  test('has values that can not end their header, whatever was written into them', () => {
    const actor = 'a"%\r\nNats-Msg-Id: é \ud800';
    const { headers } = cloudEventOf({ ...event, metadata: { ...event.metadata, actor } }, '/fixpoint');
    expect(headers['ce-actor']).toBe('a%22%25%0D%0ANats-Msg-Id:%20%C3%A9%20%EF%BF%BD');
  });

  test('E1: keeps NUL and lone surrogates of its data as JSON escapes', () => {
    const { body } = cloudEventOf({ ...event, data: { text: 'a\0\ud800' } }, '/fixpoint');
    expect(body).toBe('{"text":"a\\u0000\\ud800"}');
  });

  test('has no token of a run', () => {
    const data = { outcome: 'proceed', token: 'secret' };
    expect(cloudEventOf({ ...event, type: 'governance_passed', data }, '/fixpoint').body).toBe('{"outcome":"proceed"}');
    expect(cloudEventOf({ ...event, type: 'governance_passed', data: null }, '/fixpoint').body).toBe('null');
    expect(withheldKeys('constructor')).toEqual([]);
  });

  test('of no type has anything called a token or a secret', () => {
    for (const { type, data } of eventCatalogue) {
      const keys = Object.keys(data instanceof z.ZodObject ? data.shape : {});
      const shown = keys.filter((key) => !withheldKeys(type).includes(key));
      expect([type, shown.filter((key) => /^(?:token|secret|password|credential)s?$/.test(key))]).toEqual([type, []]);
    }
  });
});
