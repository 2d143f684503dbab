import { describe, expect, test } from '@jest/globals';
import { judgeByCel, judgeBySchema } from './judge-output.ts';

const evidence = { output: { coverage: 0.8 }, exitCode: 0, stdout: '', stderr: '' };
const cel = (text: string) => judgeByCel({ check: { cel: text }, timeout_ms: 100 }, evidence);
const schema = (json_schema: Parameters<typeof judgeBySchema>[0]['check']['json_schema']) =>
  judgeBySchema({ check: { json_schema }, timeout_ms: 100 }, evidence.output);

describe('a validator that is an expression', () => {
  test.each([
    ['output.coverage > 0.5', 'pass'],
    ['output.coverage > 0.9', 'fail'],
    ['output.missing == 1', 'error'],
    ['output.coverage >', 'error'],
    ['nobody == 1', 'error'],
    ['output.coverage', 'error'],
  ])('%s: %s', (text, answer) => {
    expect(cel(text).answer).toBe(answer);
  });
});

describe('a validator that is a schema', () => {
  test('passes what fits', () => {
    expect(schema({ type: 'object' }).answer).toBe('pass');
  });

  test('says what it wants and where', () => {
    const answer = schema({ properties: { coverage: { minimum: 0.9 } } });
    expect(answer).toMatchObject({ answer: 'fail', justification: 'output/coverage must be >= 0.9' });
  });

  test('that is no schema is an error', () => {
    expect(schema({ type: 'nothing' }).answer).toBe('error');
  });

  test('that never ends is an error', () => {
    const endless = judgeBySchema(
      { check: { json_schema: { pattern: '^(a+)+$' } }, timeout_ms: 50 },
      `${'a'.repeat(60)}!`,
    );
    expect(endless.answer).toBe('error');
  });
});
