import { expect, test } from '@jest/globals';
import { natsAddress } from './nats-address.ts';

test.each([
  ['nats://a:4222', { servers: ['nats://a:4222'] }],
  ['nats://a:4222,tls://b', { servers: ['nats://a:4222', 'tls://b'] }],
  ['nats://u:p@a:4222', { servers: ['nats://a:4222'], user: 'u', pass: 'p' }],
  ['nats://a,nats://u:p%40%2F:q@b', { servers: ['nats://a', 'nats://b'], user: 'u', pass: 'p@/:q' }],
])('%s', (url, address) => {
  expect(natsAddress(url)).toEqual(address);
});
