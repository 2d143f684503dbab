import { describe } from '@jest/globals';
import { feedContract } from './feed.contract.ts';
import { MemoryFeedStream, memoryFeed } from './memory-feed.ts';

describe('the feed in memory', () => {
  feedContract(async () => {
    const stream = new MemoryFeedStream();
    let kept = 0;
    return {
      feed: memoryFeed(stream),
      other: memoryFeed(stream),
      messages: async () => stream.messages,
      backUp: async () => {
        kept = stream.events.length;
      },
      restore: async () => stream.lose(kept),
      wipe: async () => stream.lose(0),
      close: async () => undefined,
    };
  });
});
