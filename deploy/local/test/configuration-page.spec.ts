import { readFileSync } from 'node:fs';
import { auditorSettings } from '@fixpoint/auditor/config';
import { decomposerSettings } from '@fixpoint/decomposer/config';
import { executorSettings } from '@fixpoint/executor/config';
import { orchestratorSettings } from '@fixpoint/orchestrator/config';
import { validatorSettings } from '@fixpoint/validator/config';
import { describe, expect, test } from '@jest/globals';

const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');

/** Variables in the first or second cell of a row. */
const documented = new Set(
  page
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .flatMap((line) => line.split('|').slice(1, 3))
    .flatMap((cell) => [...cell.matchAll(/`((?:FIXPOINT|OTEL)_[A-Z0-9_]+|PATH)`/g)].flatMap(([, name]) => name ?? [])),
);

const read = new Set(
  [orchestratorSettings, validatorSettings, executorSettings, decomposerSettings, auditorSettings].flatMap((settings) =>
    Object.values(settings).map(({ key }) => key),
  ),
);

describe('the page on configuration', () => {
  test('has a row for every variable that a process reads, and for no other', () =>
    expect([...documented].toSorted()).toEqual([...read].toSorted()));
});
