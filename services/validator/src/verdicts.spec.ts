import type { ValidatorSpec } from '@fixpoint/contracts/documents/protocol';
import type { ValidatorAnswer } from '@fixpoint/validation/verdict';
import { describe, expect, test } from '@jest/globals';
import { askAll } from './verdicts.ts';

const validator = (id: string): ValidatorSpec => ({
  id,
  check: { command: id },
  severity: 'warning',
  overridable: false,
  severity_cap: null,
  fix: null,
  timeout_ms: 1_000,
  on: 'node',
});

const ANSWERS: Readonly<Record<string, ValidatorAnswer>> = {
  passes: { answer: 'pass', justification: 'fine' },
  warns: { answer: 'fail', justification: 'not fine' },
  breaks: { answer: 'fault', class: 'network', detail: 'unreachable' },
};

const ask = async (...ids: string[]) => {
  const asked: string[] = [];
  const said = await askAll(
    ids.map(validator),
    async ({ id }) => {
      asked.push(id);
      return ANSWERS[id] ?? { answer: 'error', justification: 'unknown' };
    },
    {
      clock: { monotonicMs: () => 0 },
      signal: new AbortController().signal,
      recorded: { of: () => undefined, keep: () => Promise.resolve() },
    },
  );
  return { said, asked };
};

describe('asking validators', () => {
  test('gives a verdict of each, in protocol order', async () => {
    const { said } = await ask('warns', 'passes');
    expect(said).toMatchObject({ verdicts: [{ validator: 'warns', severity: 'warning' }, { severity: 'pass' }] });
  });

  test('S-T55: a warning beside one that could not be asked is no judgement, and nobody after it is asked', async () => {
    expect(await ask('warns', 'breaks', 'passes')).toEqual({
      said: { fault: { class: 'network', detail: 'breaks: unreachable' } },
      asked: ['warns', 'breaks'],
    });
  });
});
