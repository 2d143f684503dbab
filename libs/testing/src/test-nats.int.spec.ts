import { expect, test } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { testNats } from './test-nats.ts';

test('two of them do not hear each other, and closing leaves no stream', async () => {
  const [first, second] = [testNats(), testNats()];
  const heard: string[] = [];
  const [sending, strange] = [await first.bus(), await second.bus()];
  const own = await first.bus();
  const arrived = Promise.withResolvers<void>();
  await strange.watch(() => heard.push('stranger'));
  await own.watch(() => arrived.resolve());
  const offer = {
    event: {
      id: 'a',
      type: 'thing_done',
      schema_version: 1,
      data: {},
      metadata: { causation_id: 'c', correlation_id: 'r', producer: 'spec', actor: 'system' },
      occurred_at: '2026-01-01T00:00:00.000Z',
      root: 'r',
      stream: 's',
      version: 1,
      cursor: { epoch: 0, xid: '1', position: '1' },
      hash: '00',
    },
    nodeReady: null,
  };
  await sending.publish([{ offer, workClass: 'normal', reoffer: '' }]);
  await arrived.promise;
  await first.close();
  await second.close();
  expect(heard).toEqual([]);
  const connection = await connect({ servers: first.url });
  const names = await (await jetstreamManager(connection)).streams.names(`${first.namespace}.work.>`).next();
  await connection.close();
  expect(names).toEqual([]);
});
