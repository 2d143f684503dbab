import { fullBounds, peopleBounds, smallBounds } from './bounds.ts';
import { type Exploration, explore } from './explore.ts';

const report = (name: string, exploration: Exploration): boolean => {
  const startedAt = performance.now();
  const { types, broken, ...numbers } = explore(exploration);
  console.log(name, numbers);
  console.log(`events: ${types.join(', ')}`);
  console.log(`${Math.round((performance.now() - startedAt) / 1_000)} s`);
  if (broken !== null) console.log(`${broken.path.join('\n')}\nbreaks ${broken.what.join('\n')}`);
  return broken === null;
};

/** `npm run explore [-- --full [STATES]]`: everything that can happen at small bounds, or at the full ones up to so many states. */
const main = ([form, most]: readonly string[]): number => {
  const full = { ...fullBounds(), mostStates: most === undefined ? Number.POSITIVE_INFINITY : Number(most) };
  const explorations = form === '--full' ? { full } : { services: smallBounds(), ...peopleBounds() };
  const isGood = Object.entries(explorations).map(([name, exploration]) => report(name, exploration));
  return isGood.every(Boolean) ? 0 : 1;
};

process.exitCode = main(process.argv.slice(2));
