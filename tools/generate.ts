import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { asyncApi } from '@fixpoint/contracts/asyncapi';
import { diagnosticsPage } from '@fixpoint/documents/diagnostics-page';
import { documentJsonSchemas } from '@fixpoint/documents/json-schemas';
import { primitivesPage } from '@fixpoint/execution/primitives/primitives-page';
import { playbookPage } from '@fixpoint/models/playbook/playbook-page';
import { repositoryTexts, scenarioPages } from './repository-texts.ts';
import { scenariosPage } from './scenarios-page.ts';

/** Writes what is checked in although it follows from the code; specs fail when it is not current. */
const main = (): number => {
  const files = { ...schemaFiles(), 'docs/asyncapi.json': asyncApi() };
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`);
    console.log(path);
  }
  writeFileSync('docs/diagnostics.md', diagnosticsPage());
  writeFileSync('docs/scenarios.md', scenariosPage(repositoryTexts(), scenarioPages()));
  writeFileSync('docs/primitives.md', primitivesPage());
  writeFileSync('docs/playbook.md', playbookPage());
  const format = ['node_modules/@biomejs/biome/bin/biome', 'format', '--write', ...Object.keys(files)];
  return spawnSync(process.execPath, format, { stdio: 'inherit' }).status ?? 1;
};

const schemaFiles = (): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(documentJsonSchemas()).map(([file, schema]) => [`libs/contracts/schemas/${file}`, schema]),
  );

process.exitCode = main();
