import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { prettyLine } from './log.ts';

describe('a line for people', () => {
  test('says when, how bad, who, what and about what', () => {
    const record = { level: 40, time: 1_767_225_600_123, name: 'executor', msg: 'lost', pid: 1, task: 't1', n: 2 };
    expect(prettyLine(JSON.stringify(record))).toBe('00:00:00.123 warn  executor lost task=t1 n=2\n');
  });

  test('shows of an error what it says', () => {
    const record = {
      level: 50,
      time: 0,
      name: 'x',
      msg: 'failed',
      err: { type: 'Error', message: 'gone', stack: '…' },
    };
    expect(prettyLine(JSON.stringify(record))).toBe('00:00:00.000 error x failed err=gone\n');
  });
});

describe('a record for machines', () => {
  test('has what is added to each beside its own fields', () => {
    const program = `
      import { createLog } from '${fileURLToPath(new URL('./log.ts', import.meta.url))}';
      const mixin = ({ root }) => (root === undefined ? {} : { trace_id: 'of ' + root });
      const log = createLog({ name: 'x', mode: 'json', level: 'info', mixin });
      log.info({ root: 'r1' }, 'about a lineage');
      log.info({}, 'about none');`;
    const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program];
    const { stdout } = spawnSync(process.execPath, flags, { encoding: 'utf8' });
    const records = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(records).toMatchObject([{ root: 'r1', trace_id: 'of r1', msg: 'about a lineage' }, { msg: 'about none' }]);
    expect(records[1]).not.toHaveProperty('trace_id');
  });
});
