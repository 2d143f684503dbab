import { spawnSync } from 'node:child_process';
import { moduleGraph, reachedFrom } from './module-graph.ts';
import { isTestFile, sourceFiles } from './source-files.ts';

/**
 * Modules that a person or a process starts; a production file that none of them reaches is dead. Adapters in memory are
 * what the simulated world starts, and workers are programs of others.
 */
const STARTS =
  /(^|\/)(main|print-environment)\.ts$|^libs\/client\/src\/worker\.ts$|^(bench|examples|tools)\/|(^|\/)memory-[a-z-]+\.ts$/;

/**
 * Files that nothing starts and nothing tests. knip cannot tell: every file of a package is reachable through the
 * `./*` of its `exports`, so for knip all of them are entries.
 */
const deadFiles = async (sources: readonly string[]): Promise<string[]> => {
  const graph = await moduleGraph(sources);
  const isSpec = (path: string): boolean => /\.spec\.ts$|^test\//.test(path);
  const started = reachedFrom(
    graph,
    sources.filter((path) => STARTS.test(path)),
  );
  const tested = reachedFrom(graph, sources.filter(isSpec));
  return sources
    .filter((path) => !isSpec(path) && !(isTestFile(path) ? tested : started).has(path))
    .map((path) => `${path}: dead file, nothing ${isTestFile(path) ? 'tests with' : 'that starts reaches'} it`);
};

/** @returns how many files knip looked at and whether it was content. */
const knip = (): { processed: number; content: boolean } => {
  const reporters = ['--reporter', 'symbols', '--reporter', './tools/knip-count.ts'];
  const run = spawnSync('node', ['node_modules/knip/bin/knip.js', '--no-config-hints', ...reporters], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const processed = Number(/^processed (\d+)$/m.exec(run.stdout)?.[1] ?? 0);
  if (run.status !== 0) console.error(`${run.stdout}${run.stderr}`.replace(/^processed \d+\n/m, ''));
  return { processed, content: run.status === 0 };
};

/** Unused exports, dependencies and files, and the proof that every file was looked at. */
const main = async (): Promise<number> => {
  const sources = sourceFiles('.');
  const dead = await deadFiles(sources);
  for (const problem of dead) console.error(problem);

  const { processed, content } = knip();
  if (processed < sources.length) console.error(`knip looked at ${processed} of ${sources.length} source files`);
  console.log(`unused: ${processed} files looked at, ${sources.length} source files`);
  return content && dead.length === 0 && processed >= sources.length ? 0 : 1;
};

process.exitCode = await main();
