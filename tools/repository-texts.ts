import { readFileSync } from 'node:fs';
import { filesBelow } from './source-files.ts';
import type { SourceFile } from './tidy-rules.ts';

const TOPS = ['libs', 'services', 'cli', 'bench', 'examples', 'deploy', 'tools', 'test'];

const read = (path: string): SourceFile => ({ path, text: readFileSync(path, 'utf8') });

/** Code, SQL, configuration and golden logs of the repository, without samples and without the tests of the house rules. */
export const repositoryTexts = (): readonly SourceFile[] =>
  [...TOPS.flatMap((top) => filesBelow('.', top)), 'package.json', 'CHANGELOG.md']
    .filter((path) => /\.(ts|sql|json|jsonl|md)$/.test(path) && !/\/samples\/|tidy/.test(path))
    .map(read);

/** What the rooms write about known cases. */
export const scenarioPages = (): readonly SourceFile[] => filesBelow('.', 'docs/scenarios.d').map(read);
