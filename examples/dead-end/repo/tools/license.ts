// Writes the licence that was chosen into every source. Which one it is, nobody but the owner can say.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const CHOICES = ['Apache-2.0', 'MPL-2.0'];
const chosen = existsSync('LICENSE-CHOICE') ? readFileSync('LICENSE-CHOICE', 'utf8').trim() : '';
if (!CHOICES.includes(chosen)) {
  console.error(`the owner has to choose one of ${CHOICES.join(', ')} in LICENSE-CHOICE`);
  process.exit(1);
}
const header = `// SPDX-License-Identifier: ${chosen}\n`;
const source = readFileSync('src/chart.js', 'utf8');
if (!source.startsWith(header)) writeFileSync('src/chart.js', header + source);
