import { globSync, readFileSync, writeFileSync } from 'node:fs';

// Of what is only needed to develop, an image is built with the compiler and the types of packages. Everything else (tests,
// linters, servers) would make up most of what npm unpacks.
const isNeeded = (name) => name === 'typescript' || (name.startsWith('@types/') && name !== '@types/jest');

for (const file of globSync('{.,libs/*,services/*,deploy/*}/package.json')) {
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  const kept = Object.entries(manifest.devDependencies ?? {}).filter(([name]) => isNeeded(name));
  writeFileSync(file, JSON.stringify({ ...manifest, devDependencies: Object.fromEntries(kept) }, null, 2));
}
