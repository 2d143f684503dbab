import { z } from 'zod';

/** For values that are JSON: the text as what it says, or a complaint. */
export const jsonText = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue('is not JSON');
    return z.NEVER;
  }
});
