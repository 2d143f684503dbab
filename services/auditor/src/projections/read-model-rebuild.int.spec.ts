import { projectionContract } from '@fixpoint/event-store/projection.contract';
import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { auditDatabase } from './audit-database.fixture.ts';
import {
  blocked,
  exhausted,
  humanRequired,
  ready,
  repaired,
  runOf,
  spawned,
  submitted,
  telling,
} from './history.fixture.ts';
import { readModel } from './read-model.ts';
import { append } from './store-history.fixture.ts';

/** Some lineages that repair themselves, are blocked, or go to a human; told one event of each in turn. */
const happened = (n: number) => {
  const stories = [0, 1, 2].map(() => telling());
  const [first, second, third] = stories;
  if (!first || !second || !third) throw new Error('three stories are told');
  repaired(`a${n}`, first);
  second.tell(`lineage-b${n}`, `b${n}`, submitted(`b${n}`, { goal: 'a\0b \ud800' }));
  second.tell(`lineage-b${n}`, `b${n}`, ready(runOf(`b${n}`, `b${n}`, 1)));
  second.tell(`lineage-b${n}`, `b${n}`, { type: 'from_the_future', data: { deep: ['\0'] } });
  second.tell(`lineage-b${n}`, `b${n}`, blocked(`b${n}`, `b${n}`));
  third.tell(`lineage-c${n}`, `c${n}`, submitted(`c${n}`));
  third.tell(`lineage-c${n}`, `c${n}`, spawned(`c${n}`, 1));
  third.tell(`lineage-c${n}`, `c${n}`, exhausted(`c${n}`, [`c${n}.f1`]));
  third.tell(`lineage-c${n}`, `c${n}`, humanRequired(`c${n}`));
  const longest = Math.max(...stories.map(({ told }) => told.length));
  return Array.from({ length: longest }, (_, at) => stories.flatMap(({ told }) => told[at] ?? [])).flat();
};

projectionContract('the read model of the auditor', async () => {
  const { url, store, db, close } = await auditDatabase(5);
  const spoil = {
    statement: `update audit.task set status = 'running' where task = 'a3'`,
    table: 'task',
    row: 'task=a3',
  };
  return { projection: readModel, url, store, db, spoil, happens: (n) => append(store, happened(n)), close };
});

test('every table of the read model can be rebuilt and compared', async () => {
  const { db, close } = await auditDatabase();
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relnamespace = 'audit'::regnamespace and relkind = 'r'
    order by 1`.execute(db);
  await close();
  expect(rows.map(({ name }) => name)).toEqual(readModel.tables.map(({ name }) => name).toSorted());
});
