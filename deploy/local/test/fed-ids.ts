import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { Client } from 'pg';

/** Ids of all stored events, in the order of the store. */
export const storedIds = async (postgresUrl: string): Promise<readonly string[]> => {
  const client = new Client({ connectionString: postgresUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ id: string }>('select id from store.event order by epoch, xid, position');
    return rows.map(({ id }) => id);
  } finally {
    await client.end();
  }
};

/** Ids of all events in the feed, as a subscriber gets them. Empty while there is no feed. */
export const fedIds = async (natsUrl: string): Promise<readonly string[]> => {
  const connection = await connect({ servers: natsUrl });
  try {
    const { state } = await (await jetstreamManager(connection)).streams.info('FEED');
    const consumer = await jetstream(connection).consumers.get('FEED');
    const ids: string[] = [];
    while (ids.length < state.messages) {
      for await (const message of await consumer.fetch({ max_messages: state.messages - ids.length, expires: 5_000 }))
        ids.push(message.headers?.get('ce-id') ?? '');
    }
    return ids;
  } catch (error) {
    if (error instanceof Error && error.message === 'stream not found') return [];
    throw error;
  } finally {
    await connection.close();
  }
};
