import { type ExplainedCase, explainedCases, specsOfIds } from './case-ids.ts';
import type { SourceFile } from './tidy-rules.ts';

const INTRODUCTION = `# Scenarios

Known ways in which systems of this kind go wrong: what happens, what must come of it, and the tests that show it. An id
stands in the names of its tests, so \`git grep -w ID\` finds them too.

Written by \`npm run generate\` from the names of the tests and from the pages of the rooms in \`scenarios.d/\`. A line of
such a page is one of

\`\`\`
- \`ID\`: what happens and what must come of it
- \`ID\` (cannot occur): why there is no way for it to happen here
- \`ID\` (not yet): what is missing that it is about
\`\`\`

\`npm run check:tidy\` fails when a test names an id that no page explains, when a page explains an id that no test names,
when a test names what "cannot occur", and when an id that the release answers for has neither. \`npm run cases\` lists
those.
`;

const FAMILIES: readonly (readonly [prefix: RegExp, title: string])[] = [
  [/^S-/, 'Recovery by fixes (`S-T` cases, `S-B` bugs that somebody once had)'],
  [/^I-/, 'Verified actions (`I-T` cases, `I-B` bugs)'],
  [/^H-/, 'Decomposition (`H-T` cases, `H-B` bugs)'],
  [/^U-/, 'Recomposition (`U-T` cases, `U-B` bugs)'],
  [/^INV/, 'Invariants (`INV`)'],
  [/^X/, 'Questions on which such systems differ (`X`)'],
  [/^P/, 'An event store on Postgres (`P`)'],
  [/^N/, 'A broker (`N`)'],
  [/^A/, 'Delivery, loss, duplication (`A`)'],
  [/^B/, 'Stuck, cancelled, retried, timed out (`B`)'],
  [/^C/, 'Closure, decomposition, budgets (`C`)'],
  [/^D/, 'Humans in the loop (`D`)'],
  [/^E/, 'History, data, secrets, tenants (`E`)'],
  [/^F/, 'Projections, dead letters, clocks, platform (`F`)'],
];

const byNumber = new Intl.Collator('en', { numeric: true });

const sentenceOf = (text: string): string => {
  const begun = `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
};

const linkTo = (path: string): string => `[${path.slice(path.lastIndexOf('/') + 1)}](../${path})`;

const lineOf = (id: string, explained: readonly ExplainedCase[], specs: readonly string[]): string => {
  const standing = explained.find(({ standing }) => standing !== 'tested')?.standing;
  const said = explained.map(({ sentence }) => sentenceOf(sentence)).join(' ');
  const shown = specs.length === 0 ? '' : ` Shown by ${specs.map(linkTo).join(', ')}.`;
  return `- \`${id}\`${standing === undefined ? '' : ` (${standing})`}: ${said}${shown}`;
};

/** The text of docs/scenarios.md. */
export const scenariosPage = (files: readonly SourceFile[], pages: readonly SourceFile[]): string => {
  const specs = specsOfIds(files);
  const explained = Map.groupBy(explainedCases(pages), ({ id }) => id);
  const ids = [...explained.keys()].sort(byNumber.compare);
  const sections = FAMILIES.flatMap(([prefix, title]) => {
    const lines = ids
      .filter((id) => prefix.test(id))
      .map((id) => lineOf(id, explained.get(id) ?? [], specs.get(id) ?? []));
    return lines.length === 0 ? [] : [`## ${title}\n\n${lines.join('\n')}\n`];
  });
  return [INTRODUCTION, ...sections].join('\n');
};
