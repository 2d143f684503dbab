import { describe, expect, test } from '@jest/globals';
import { DatabaseError } from 'pg';
import { EXIT } from './exit-codes.ts';
import { failureOf } from './failure.ts';
import { onDatabase } from './store-database.ts';

const reported = (sqlState: string, message: string): DatabaseError =>
  Object.assign(new DatabaseError(message, 0, 'error'), { code: sqlState });

describe('a database that lets nobody in', () => {
  test.each([
    ['no password', new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string')],
    ['a wrong password', reported('28P01', 'password authentication failed for user "ann"')],
    ['no such database', reported('3D000', 'database "fixpoint" does not exist')],
  ])('%s: says which server, and exits as one that is not reached', async (_what, error) => {
    const postgres = 'postgres://ann:secret@db.example/fixpoint';
    const failed = await onDatabase({ postgres }, { env: {} } as never, () => Promise.reject(error)).catch(failureOf);
    expect(failed).toEqual({
      code: EXIT.unreachable,
      text: `Postgres at db.example:5432/fixpoint: ${error.message}\n  hint: does the URL name the right user, password and database?`,
    });
  });
});
