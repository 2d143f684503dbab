import { describe, expect, test } from '@jest/globals';
import { table } from './table.ts';

describe('a table', () => {
  test('aligns its columns and pads nothing at the end of a line', () => {
    const rows = [
      ['commit-deps', 'completed', '41'],
      ['x', 'human', '7'],
    ];
    expect(table(['example', 'end', 'events'], rows)).toBe(
      [
        'example      end        events',
        '-----------  ---------  ------',
        'commit-deps  completed  41',
        'x            human      7',
      ].join('\n'),
    );
  });
  test('without rows is its header', () => {
    expect(table(['a', 'bc'], [])).toBe('a  bc\n-  --');
  });
});
