import { readFileSync } from 'node:fs';

if (!readFileSync('footer.txt', 'utf8').includes('2026')) {
  console.error('footer.txt is out of date');
  process.exit(1);
}
