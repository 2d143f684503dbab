import { z } from 'zod';

/** Body of `POST /v1/tasks/{lineage}/cancel`. */
export const cancelTaskSchema = z.strictObject({
  /** Address of a child (`0.2`); left out, the whole lineage. */
  task: z
    .string()
    .regex(/^0([.~][1-9][0-9]*)*$/, 'is an address such as 0.2')
    .default('0'),
  reason: z.string().max(2000).default(''),
});
export type CancelTask = z.infer<typeof cancelTaskSchema>;

/** Answer of it. */
export const cancelledTaskSchema = z.object({
  lineage: z.string(),
  /** Address. */
  task: z.string(),
  /** False when it had been cancelled before. */
  changed: z.boolean(),
  /** Give it to a read as `after` to see this write; null when nothing was written. */
  cursor: z.string().nullable(),
});
export type CancelledTask = z.infer<typeof cancelledTaskSchema>;
