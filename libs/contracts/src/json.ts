import { z } from 'zod';

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** Any JSON value. Not validated deeper: the store refuses what it can't keep exactly. */
export const jsonSchema = z.json() as z.ZodType<Json>;
