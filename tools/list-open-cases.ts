import { openCases } from './case-ids.ts';
import { repositoryTexts, scenarioPages } from './repository-texts.ts';
import { wantedCases } from './wanted-cases.ts';

/** Prints the cases that this release answers for and that neither a test nor a page names, one per line. */
for (const id of openCases(wantedCases, repositoryTexts(), scenarioPages())) console.log(id);
