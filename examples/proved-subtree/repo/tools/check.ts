// Checks a proof line by line.
import { readFileSync } from 'node:fs';
import { rulesFor, statement, stepsFrom } from './rules.ts';

const [name = ''] = process.argv.slice(2);
const { from, to } = statement(name);
const rules = rulesFor(name);
const lines = readFileSync(`proofs/${name}.txt`, 'utf8').trim().split('\n');
const isProof =
  lines[0] === from &&
  lines.at(-1) === to &&
  lines.slice(1).every((line, index) => stepsFrom(lines[index] ?? '', rules).includes(line));
if (!isProof) {
  console.error(`proofs/${name}.txt is no proof`);
  process.exit(1);
}
