import { WorkspaceFault } from '@fixpoint/execution/workspace-fault';
import { describe, expect, test } from '@jest/globals';
import { faultClassOf } from './fault-class.ts';

const system = (code: string, syscall: string): Error =>
  Object.assign(new Error(`${syscall} ${code}`), { code, syscall });

describe('the class of what went wrong', () => {
  test.each<[string, unknown, string | null]>([
    ['a full disk', system('ENOSPC', 'write'), 'disk'],
    ['a disk that is read-only', system('EROFS', 'mkdir'), 'disk'],
    ['a folder of somebody else', system('EACCES', 'mkdir'), 'internal'],
    [
      'a workspace that keeps its own class',
      new WorkspaceFault('network', 'source_unreachable', { detail: 'no route' }),
      'network',
    ],
    ['a socket of the store', system('EACCES', 'connect'), null],
    ['a store that refuses', system('ECONNREFUSED', 'connect'), null],
    ['a plain error', new Error('something'), null],
    ['nothing at all', undefined, null],
  ])('I-T34: is told by what it is: %s', (_name, error, expected) => {
    expect(faultClassOf(error)).toBe(expected);
  });

  test.each([
    '429 Too Many Requests',
    '401 Unauthorized',
    'connect ECONNREFUSED 10.0.0.1:443',
    'ENOSPC: no space left',
  ])('I-T34: is not told by what it says: %s', (message) => {
    expect(faultClassOf(new Error(message))).toBeNull();
  });
});
