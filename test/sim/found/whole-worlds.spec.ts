import { expect, jest, test } from '@jest/globals';
import { simulate } from '../simulate.ts';

// Less than a second each; a busy machine needs longer.
jest.setTimeout(120_000);

/** Worlds that broke a rule once, whole: what is wrong with them has a smaller history beside the domain. */
test.each([
  ['the iterations of a unit went beyond their bound in its recompose', 501],
  ['a child whose merge was retried had to wait for its turn', 519],
  ['the iterations of a unit of three went beyond their bound in its recompose', 720],
  ['a child in the middle of a deeper epic had to wait for its turn', 752],
  ['what a run had spent that was given up was told of when all was over', 919],
  ['a council heard of a question when nobody asked it any more', 2006],
  ['the message about a dead letter was lost', 2007],
  ['the end of a pause was slept through until the deadline', 73956263],
  ['a dead letter was heard of again when its handoff had been decided', 24],
  ['a run that a human had another one in place of was begun when all was over', 70],
  ['a run that a human had the council asked in place of was begun when all was over', 2202],
  ['a human had a run tried again while what it had submitted was still open', 2152],
])('%s: seed %i breaks no rule', async (_, seed) => {
  expect((await simulate(seed)).broken).toEqual([]);
});
