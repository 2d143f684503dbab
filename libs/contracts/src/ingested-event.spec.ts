import { describe, expect, test } from '@jest/globals';
import { AttributeInvalid, eventInOnePiece } from './ingested-event.ts';

const DATA = { what: 'it is red' };
const BINARY = {
  'content-type': 'application/json',
  'ce-specversion': '1.0',
  'ce-id': '1',
  'ce-source': '/ci',
  other: 'x',
};

describe('a CloudEvent', () => {
  test('in binary mode has its attributes in headers and its data in the body', () => {
    expect(eventInOnePiece(BINARY, DATA)).toEqual({ specversion: '1.0', id: '1', source: '/ci', data: DATA });
  });

  test('in structured mode is its body, whatever headers say', () => {
    const event = { specversion: '1.0', id: '2', data: DATA };
    expect(eventInOnePiece({ 'content-type': 'application/json' }, event)).toBe(event);
    const type = { 'content-type': 'application/cloudevents+json; charset=utf-8' };
    expect(eventInOnePiece({ ...BINARY, ...type }, event)).toBe(event);
  });

  test.each([
    ['Euro%20%E2%82%AC', 'Euro €'],
    ['"a \\"b\\""', 'a "b"'],
    ['plain', 'plain'],
  ])('writes an attribute as %s for %s', (written, meant) => {
    expect(eventInOnePiece({ ...BINARY, 'ce-subject': written }, DATA)).toMatchObject({ subject: meant });
  });

  test('with an attribute that nobody can decode is refused', () => {
    expect(() => eventInOnePiece({ ...BINARY, 'ce-id': '%E2%82' }, DATA)).toThrow(AttributeInvalid);
  });
});
