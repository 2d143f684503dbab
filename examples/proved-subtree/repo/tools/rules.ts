import { existsSync, readFileSync } from 'node:fs';

export interface Statement {
  readonly from: string;
  readonly to: string;
}

export const statements: Readonly<Record<string, Statement>> = JSON.parse(readFileSync('statements.json', 'utf8'));

export const statement = (name: string): Statement => {
  const found = statements[name];
  if (found === undefined) throw new Error(`no statement ${name}`);
  return found;
};

/** The axiom, and every other statement whose proof is there. */
export const rulesFor = (name: string): readonly Statement[] => [
  { from: 'ab', to: 'ba' },
  ...Object.entries(statements)
    .filter(([other]) => other !== name && existsSync(`proofs/${other}.txt`))
    .map(([, proved]) => proved),
];

/** Every text that one replacement makes of this one. */
export const stepsFrom = (text: string, rules: readonly Statement[]): readonly string[] =>
  rules.flatMap(({ from, to }) =>
    [...Array(text.length).keys()].flatMap((at) =>
      text.startsWith(from, at) ? [text.slice(0, at) + to + text.slice(at + from.length)] : [],
    ),
  );
