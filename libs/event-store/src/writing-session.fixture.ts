import { Client } from 'pg';
import { appendStatement } from './append-statement.ts';
import type { Append } from './event-store.ts';
import { appendOf } from './store-events.fixture.ts';
import { type StoredAppend, storedAppend } from './stored-event.ts';

/** A session that holds its transaction open around an append: what a slow writer or a slow disk does. */
export interface WritingSession {
  readonly client: Client;
  /** Begins a transaction and appends one event per cause to a new stream in it. */
  begin(stream: string, ...causes: readonly string[]): Promise<void>;
  /** The same for several new streams in one statement, one event each. */
  beginAll(streams: readonly string[]): Promise<void>;
  end(how: 'commit' | 'rollback'): Promise<void>;
  close(): Promise<void>;
}

const storable = (append: Append): StoredAppend => {
  const stored = storedAppend(append);
  if ('outcome' in stored) throw new Error(stored.detail);
  return stored;
};

/** @param name shown by Postgres. */
export const writingSession = async (url: string, name: string): Promise<WritingSession> => {
  const client = new Client({ connectionString: url, application_name: name });
  await client.connect();
  const append = async (appends: readonly Append[]): Promise<void> => {
    await client.query('begin');
    const { text, values } = appendStatement(appends.map(storable));
    const { rowCount } = await client.query(text, values);
    const events = appends.flatMap((each) => each.events).length;
    if (rowCount !== events) throw new Error(`${rowCount} of ${events} events were appended`);
  };
  return {
    client,
    begin: (stream, ...causes) => append([appendOf(stream, 0, ...causes)]),
    beginAll: (streams) => append(streams.map((stream) => appendOf(stream, 0, 'a'))),
    end: async (how) => {
      await client.query(how);
    },
    close: () => client.end(),
  };
};
