import { jobsContract } from './jobs.contract.ts';
import { memoryJobs } from './memory-jobs.ts';

jobsContract('jobs of one process', async () => {
  let ms = Date.parse('2026-01-01T00:00:00Z');
  return {
    jobs: memoryJobs({ now: () => new Date(ms) }),
    pass: async (more) => {
      ms += more;
    },
    close: async () => undefined,
  };
});
