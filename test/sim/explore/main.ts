import { fullBounds, smallBounds } from './bounds.ts';
import { explore } from './explore.ts';

/** `npm run explore [-- STATES]`: everything that can happen at small bounds, or with a number the full bounds up to it. */
const main = ([states]: readonly string[]): number => {
  const startedAt = performance.now();
  const { types, broken, ...numbers } = explore(
    states === undefined ? smallBounds() : { ...fullBounds(), mostStates: Number(states) },
  );
  console.log(numbers);
  console.log(`events: ${types.join(', ')}`);
  console.log(`${Math.round((performance.now() - startedAt) / 1_000)} s`);
  if (broken === null) return 0;
  console.log(`${broken.path.join('\n')}\nbreaks ${broken.what.join('\n')}`);
  return 1;
};

process.exitCode = main(process.argv.slice(2));
