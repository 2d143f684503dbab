import { z } from 'zod';
import { definePrimitive } from './primitive.ts';

const key = (name: string): string => `counter:${name}`;

const name = z.string().min(1).max(63).default('default').describe('which counter of the run');

/** Counts up in the run's memory: a step without process, folder and git, for measuring everything around it. */
export const counter = definePrimitive({
  name: 'counter',
  description: 'Counts one by one up to a number, in the memory of the run.',
  effects: true,
  inProcess: true,
  parameters: z.strictObject({ name, to: z.int().min(1).max(1_000_000).describe('the number to count to') }),
  promises: { check: 'counter-at', with: ({ name: counted, to }) => ({ name: counted, value: to }) },
  run: async ({ scratch }, parameters) => {
    let value = scratch.get(key(parameters.name)) ?? 0;
    while (value < parameters.to) value += 1;
    scratch.set(key(parameters.name), value);
    return { ok: value === parameters.to, output: { value }, detail: `${parameters.name} is at ${value}` };
  },
});

/** The check that belongs to {@link counter}. */
export const counterAt = definePrimitive({
  name: 'counter-at',
  description: 'Holds when the counter of this run is at a number; a counter nobody counted is at 0.',
  effects: false,
  inProcess: true,
  parameters: z.strictObject({ name, value: z.int().min(0).describe('the number it must be at') }),
  run: async ({ scratch }, parameters) => {
    const value = scratch.get(key(parameters.name)) ?? 0;
    return {
      ok: value === parameters.value,
      output: { value },
      detail: `${parameters.name} is at ${value}, asked for ${parameters.value}`,
    };
  },
});
