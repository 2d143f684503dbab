// Looks for a proof of a statement no longer than the depth of this attempt, and writes it to proofs/.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { rulesFor, statement, stepsFrom } from './rules.ts';

const [name = ''] = process.argv.slice(2);
const { from, to } = statement(name);
const rules = rulesFor(name);

// With lemmas each attempt looks one step deeper than the last one. Like a prover's cache the depth is kept outside of
// the workspace: what a failed attempt leaves behind in its workspace is gone.
const FIRST_DEPTH = 3;
const cache = process.env.PROVER_CACHE ?? '';
const tried = existsSync(cache) ? Number(readFileSync(cache, 'utf8')) : FIRST_DEPTH - 1;
const depth = rules.length > 1 ? tried + 1 : FIRST_DEPTH;
if (rules.length > 1) writeFileSync(cache, String(depth));

const search = (): readonly string[] | null => {
  let paths: readonly (readonly string[])[] = [[from]];
  for (let length = 0; length < depth; length += 1) {
    paths = paths.flatMap((path) => stepsFrom(path.at(-1) ?? '', rules).map((next) => [...path, next]));
    const found = paths.find((path) => path.at(-1) === to);
    if (found !== undefined) return found;
  }
  return null;
};

const proof = search();
if (proof === null) {
  appendFileSync('search.log', `${name}: nothing within ${depth} steps\n`);
  console.error(`${name}: no proof of ${depth} steps or fewer from ${rules.length} rules`);
  process.exit(1);
}
writeFileSync(`proofs/${name}.txt`, `${proof.join('\n')}\n`);
console.log(`${name}: ${proof.length - 1} steps`);
