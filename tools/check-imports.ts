import { readFileSync } from 'node:fs';
import type { ICruiseResult } from 'dependency-cruiser';
import configuration from '../.dependency-cruiser.mjs';
import { moduleGraph } from './module-graph.ts';
import { sourceFiles } from './source-files.ts';

/** What a source file says it imports, read by a plain search: the witness against a parser that misses imports. */
const writtenImports = (path: string): string[] => {
  const text = readFileSync(path, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
  const statements = text.matchAll(/^(?:import|export)\s(?:[^'"`;]*?\sfrom\s)?['"](?:node:)?([^'"]+)['"]/gm);
  return [...statements].flatMap(([, specifier]) => (specifier === undefined ? [] : [specifier]));
};

const missedImports = (graph: ICruiseResult, sources: readonly string[]): string[] => {
  const seen = new Map(graph.modules.map((module) => [module.source, module.dependencies.map((to) => to.module)]));
  return sources.flatMap((path) => {
    const imports = seen.get(path);
    if (imports === undefined) return [`${path}: not seen by dependency-cruiser`];
    return writtenImports(path)
      .filter((specifier) => !imports.includes(specifier))
      .map((specifier) => `${path}: its import of ${specifier} was not seen by dependency-cruiser`);
  });
};

const brokenRules = (graph: ICruiseResult): string[] =>
  graph.summary.violations.map((broken) => {
    const rule = configuration.forbidden.find((candidate) => candidate.name === broken.rule.name);
    const way = broken.cycle === undefined ? broken.to : broken.cycle.map((step) => step.name).join(' → ');
    return `${broken.from} → ${way}: ${broken.rule.name}. ${rule?.comment ?? ''}`;
  });

/** The import rules, and the proof that each file and each import of it was looked at. */
const main = async (): Promise<number> => {
  const sources = sourceFiles('.');
  const graph = await moduleGraph(sources);
  const problems = [...brokenRules(graph), ...missedImports(graph, sources)];
  for (const problem of problems) console.error(problem);

  const imports = graph.modules.reduce((sum, module) => sum + module.dependencies.length, 0);
  console.log(`imports: ${sources.length} source files, ${imports} imports, ${problems.length} problems`);
  return problems.length === 0 && imports > 0 ? 0 : 1;
};

process.exitCode = await main();
