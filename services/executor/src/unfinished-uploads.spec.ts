import { expect, test } from '@jest/globals';
import { unfinishedUploads } from './unfinished-uploads.ts';

test('uploads that nobody ended within a day are removed each hour, and none once the process stops', async () => {
  const slept: number[] = [];
  const removed: number[] = [];
  const artifacts = { removeUnfinished: async (olderThanMs: number) => removed.push(olderThanMs) };
  const round = unfinishedUploads({ artifacts, clock: { sleep: async (ms) => void slept.push(ms) } });
  await round(new AbortController().signal);
  expect([slept, removed]).toEqual([[3_600_000], [86_400_000]]);
  await round(AbortSignal.abort());
  expect(removed).toHaveLength(1);
});
