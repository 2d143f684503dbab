import { describe } from '@jest/globals';
import { leasesContract } from './leases.contract.ts';
import { memoryLeases } from './memory-leases.ts';
import { manualClock } from './messaging.fixture.ts';

describe('leases in memory', () => {
  leasesContract(async () => {
    const clock = manualClock();
    return {
      leases: memoryLeases(clock),
      now: async () => clock.now(),
      pass: (ms) => clock.advance(ms),
      close: () => Promise.resolve(),
    };
  });
});
