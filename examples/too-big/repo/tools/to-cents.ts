// Rewrites the amounts of the named files, or of all layers, from euros to cents, and commits what it changed.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const REWRITES: Readonly<Record<string, readonly (readonly [from: string, to: string])[]>> = {
  'src/domain/invoice.ts': [
    ['readonly price: number', 'readonly priceCents: number'],
    ['in euros', 'in cents'],
    ['line.price * line.count', 'line.priceCents * line.count'],
  ],
  'src/store/invoice-row.ts': [
    ['the price in euros', 'the price in cents'],
    ['{ name, count, price }: Line', '{ name, count, priceCents }: Line'],
    ['price.toFixed(2)', 'priceCents'],
    ['price: Number(price)', 'priceCents: Number(price)'],
  ],
  'src/http/parse.ts': [['price: Number(body.price)', 'priceCents: Math.round(Number(body.price) * 100)']],
  'src/http/render.ts': [
    ['amount: number', 'cents: number'],
    ['amount.toFixed(2)', '(cents / 100).toFixed(2)'],
  ],
};

const named = process.argv.slice(2);
const files = Object.keys(REWRITES).filter((file) => named.length === 0 || named.some((path) => file.startsWith(path)));
for (const file of files) {
  let text = readFileSync(file, 'utf8');
  for (const [from, to] of REWRITES[file] ?? []) text = text.replace(from, to);
  writeFileSync(file, text);
}
execFileSync('git', ['commit', '--quiet', '--message', `Count in cents: ${files.join(', ')}`, '--', ...files]);
