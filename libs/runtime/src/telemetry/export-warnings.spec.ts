import { describe, expect, test } from '@jest/globals';
import { ExportWarnings } from './export-warnings.ts';

const warnings = () => {
  const clock = { ms: 0 };
  const told: object[] = [];
  const warner = new ExportWarnings(() => clock.ms);
  return { clock, told, warner, log: { warn: (fields: object) => void told.push(fields) } };
};

describe('trouble with the collector', () => {
  test('is told once a minute, with the number of times it was not', () => {
    const { clock, told, warner, log } = warnings();
    warner.reportTo(log);
    for (let second = 0; second < 90; second += 1) {
      clock.ms = second * 1_000;
      warner.say('connection refused');
    }
    expect(told).toEqual([
      { problem: 'connection refused', more: 0 },
      { problem: 'connection refused', more: 59 },
    ]);
  });

  test('before there is a log is told when there is one', () => {
    const { told, warner, log } = warnings();
    warner.say('no such host');
    warner.reportTo(log);
    expect(told).toEqual([{ problem: 'no such host', more: 0 }]);
  });
});
