import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { blinded, type Planted, planted, targets } from './planted.ts';
import { filesBelow } from './source-files.ts';

/** Own packages are links into the tree, so the copy needs links of its own; all others lead to the installed ones. */
const linkPackages = (copy: string): void => {
  mkdirSync(join(copy, 'node_modules', '@fixpoint'), { recursive: true });
  for (const name of readdirSync('node_modules')) {
    if (name !== '@fixpoint') symlinkSync(resolve('node_modules', name), join(copy, 'node_modules', name));
  }
  const own = filesBelow(copy, '.').filter((path) =>
    /^(libs|services|deploy)\/[^/]+\/package\.json$|^(cli|bench|examples)\/package\.json$/.test(path),
  );
  for (const path of own) {
    const { name } = JSON.parse(readFileSync(join(copy, path), 'utf8'));
    symlinkSync(join(copy, dirname(path)), join(copy, 'node_modules', name));
  }
};

const copyOfTree = (): string => {
  const copy = mkdtempSync(join(tmpdir(), 'fixpoint-planted-'));
  for (const path of filesBelow('.', '.')) {
    mkdirSync(join(copy, dirname(path)), { recursive: true });
    cpSync(path, join(copy, path));
  }
  linkPackages(copy);
  return copy;
};

const write = (copy: string, path: string, text: string): void => {
  mkdirSync(dirname(join(copy, path)), { recursive: true });
  writeFileSync(join(copy, path), text);
};

/** @returns what the check printed, or null when it was content. */
const complaint = (copy: string, check: Planted['check']): string | null => {
  const run = spawnSync('npm', ['run', '--silent', `check:${check}`], {
    cwd: copy,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  return run.status === 0 ? null : `${run.stdout}${run.stderr}`;
};

const plantAll = (copy: string): void => {
  for (const [path, text] of Object.entries(targets)) write(copy, path, text);
  for (const { path, text } of planted) write(copy, path, text);
  const manifest = join(copy, 'libs/decider/package.json');
  writeFileSync(
    manifest,
    JSON.stringify({ ...JSON.parse(readFileSync(manifest, 'utf8')), dependencies: { pg: '8.23.1' } }),
  );
};

const missedPlants = (copy: string): string[] => {
  plantAll(copy);
  const said = new Map(
    [...new Set(planted.map(({ check }) => check))].map((check) => [check, complaint(copy, check) ?? ''] as const),
  );
  const missed = planted.filter(({ check, expected }) => !said.get(check)?.includes(expected));
  return [
    ...missed.map(({ check, path, expected }) => `check:${check} does not say "${expected}" of ${path}`),
    ...(/^pg\s+libs\/decider\/package\.json/m.test(said.get('unused') ?? '')
      ? []
      : ['check:unused misses an unused dependency']),
  ];
};

const unnoticedBlindness = (copy: string): string[] =>
  blinded.flatMap(({ check, path, from, to, expected }) => {
    const before = readFileSync(path, 'utf8');
    const after = before.replace(from, to);
    write(copy, path, after);
    const said = complaint(copy, check) ?? '';
    write(copy, path, before);
    if (before === after) return [`${path} has no ${from}`];
    return !said.includes(expected) ? [`check:${check} does not notice that it looks at too little`] : [];
  });

/** Plants a violation for each promise of `npm run check` in a copy of the tree and expects every one to be found. */
const main = (): number => {
  const copy = copyOfTree();
  const problems = [...unnoticedBlindness(copy), ...missedPlants(copy)];
  rmSync(copy, { recursive: true });
  for (const problem of problems) console.error(problem);
  console.log(
    `planted: ${planted.length + 1} violations and ${blinded.length} blinded tools, ${problems.length} unnoticed`,
  );
  return problems.length === 0 ? 0 : 1;
};

process.exitCode = main();
