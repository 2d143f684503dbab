import { describe, expect, test } from '@jest/globals';
import { GroupCommit, type Waiting } from './group-commit.ts';
import { event } from './store-events.fixture.ts';
import { storedAppend } from './stored-event.ts';

/** A writer whose batches end when the test says so. */
const lanes = (count: number) => {
  const batches: { readonly streams: readonly string[]; readonly end: () => void }[] = [];
  const write = (batch: readonly Waiting[]): Promise<void> =>
    new Promise((resolve) => {
      batches.push({
        streams: batch.map(({ stored }) => `${stored.append.stream}@${stored.append.expectedVersion}`),
        end: resolve,
      });
    });
  const commits = new GroupCommit(write, count);
  const add = (stream: string, expectedVersion = 0, causes: readonly string[] = ['a']): void => {
    const stored = storedAppend({
      stream,
      root: stream,
      expectedVersion,
      events: causes.map((cause) => event(stream, cause)),
    });
    if ('outcome' in stored) throw new Error(stored.detail);
    commits.add({ stored, settle: () => undefined, fail: () => undefined });
  };
  const written = async (): Promise<readonly (readonly string[])[]> => {
    await new Promise(setImmediate);
    return batches.map(({ streams }) => streams);
  };
  return { add, written, end: (index: number) => batches[index]?.end() };
};

describe('group commit', () => {
  test('writes at once when a lane is free: one alone does not wait for company', async () => {
    const { add, written } = lanes(1);
    add('a');
    expect(await written()).toEqual([['a@0']]);
  });

  test('takes what was appended in one tick together', async () => {
    const { add, written } = lanes(2);
    for (const stream of ['a', 'b', 'c']) add(stream);
    expect(await written()).toEqual([['a@0', 'b@0', 'c@0']]);
  });

  test('collects while every lane is busy, and goes on when one is free', async () => {
    const { add, written, end } = lanes(2);
    for (const stream of ['a', 'b', 'c', 'd', 'e']) {
      add(stream);
      await written();
    }
    expect(await written()).toEqual([['a@0'], ['b@0']]);
    end(1);
    expect(await written()).toEqual([['a@0'], ['b@0'], ['c@0', 'd@0', 'e@0']]);
  });

  test('keeps a stream in one lane, and its appends in order', async () => {
    const { add, written, end } = lanes(2);
    add('a', 0);
    await written();
    add('a', 1);
    add('b', 0);
    add('a', 2);
    expect(await written()).toEqual([['a@0'], ['b@0']]);
    end(0);
    expect(await written()).toEqual([['a@0'], ['b@0'], ['a@1', 'a@2']]);
  });

  test('puts two decisions on one version into two statements', async () => {
    const { add, written, end } = lanes(1);
    add('a', 0, ['one']);
    add('a', 0, ['two']);
    add('a', 1, ['three']);
    expect(await written()).toEqual([['a@0']]);
    end(0);
    expect(await written()).toEqual([['a@0'], ['a@0', 'a@1']]);
  });

  test('writes at most 200 rows at once, and a larger decision alone', async () => {
    const { add, written, end } = lanes(1);
    const many = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index));
    add('a', 0, many(150));
    add('b', 0, many(50));
    add('c', 0, many(1));
    add('d', 0, many(300));
    for (const index of [0, 1, 2]) {
      await written();
      end(index);
    }
    expect(await written()).toEqual([['a@0', 'b@0'], ['c@0'], ['d@0']]);
  });
});
