import { readFileSync } from 'node:fs';
import type { FixpointEvent } from '@fixpoint/contracts/events/catalogue';
import { parseEvent } from '@fixpoint/contracts/events/parse-event';
import { expect, test } from '@jest/globals';
import { humanLine } from './human-lines.ts';

const sample = (file: string): FixpointEvent =>
  parseEvent(
    JSON.parse(readFileSync(new URL(`../../../libs/contracts/samples/${file}.json`, import.meta.url), 'utf8')),
  );

test.each([
  ['human_decided.v1', '0: ada decided: retry'],
  ['handoff_claimed.v1', '0: ada looks after it until 2026-01-15T11:30:00.000Z'],
  ['handoff_warned.v1', expect.stringMatching(/^0: nobody has decided yet; the request ends 2026/)],
  ['handoff_expired.v1', '0: nobody decided in time: keep (nobody decided)'],
  ['task_completed.v1', null],
])('%s is said as %s', (file, line) => {
  expect(humanLine(sample(file))).toEqual(line);
});
