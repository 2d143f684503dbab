#!/usr/bin/env node
// What `npx fixpoint` starts. It is plain JavaScript for old releases of Node too: it has to be there before anything is
// built, and the Node of the system is often older than the one that this repository brings along.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE = 24;
const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));

const say = (sentence) => {
  process.stderr.write(`fixpoint: ${sentence}\n`);
  process.exitCode = 1;
};

/** The Node that is installed with this repository; null when it is not. */
const installedNode = () => {
  try {
    const manifest = createRequire(import.meta.url).resolve('node/package.json');
    const binary = join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    return existsSync(binary) ? binary : null;
  } catch {
    return null;
  }
};

const runWith = (node) => {
  let child;
  // Before it is started, so that no signal comes between. Ctrl-C reaches the child from the terminal; this process only
  // waits for what it makes of it.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child = spawn(node, [MAIN, ...process.argv.slice(2)], { stdio: 'inherit' });
  child.on('error', (error) => say(`${node} can not be run: ${error.message}`));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
};

const start = async () => {
  if (!existsSync(MAIN)) {
    const root = fileURLToPath(new URL('../..', import.meta.url));
    return say(`it is not built yet; \`npm run build\` in ${root} builds it`);
  }
  if (Number.parseInt(process.versions.node, 10) >= NODE) return import('../dist/main.js');
  const node = installedNode();
  if (node !== null) return runWith(node);
  return say(`this is Node ${process.versions.node}, and it takes Node ${NODE}, which \`npm ci\` installs`);
};

await start();
