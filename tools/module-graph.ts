import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import configuration from '../.dependency-cruiser.mjs';

/** All modules below the given files with their imports (types included) and the rules that they break. */
export const moduleGraph = async (sources: readonly string[]): Promise<ICruiseResult> => {
  const { forbidden, options } = configuration;
  const { output } = await cruise([...sources], { ...options, validate: true, ruleSet: { forbidden } });
  if (typeof output === 'string') throw new Error('dependency-cruiser returned text where a result was expected');
  return output;
};

/** Files that a module starts as a process or a worker: `new URL('./x.ts', import.meta.url)`, or its built `./x.js`. */
const startedBy = (path: string): string[] =>
  [...readFileSync(path, 'utf8').matchAll(/new URL\(\s*'(\.[^']+)\.[jt]s'/g)]
    .map((match) => `${join(dirname(path), match[1] ?? '')}.ts`)
    .filter((started) => existsSync(started));

/** Everything that the given files import or start, directly or not, themselves included. */
export const reachedFrom = (graph: ICruiseResult, starts: readonly string[]): ReadonlySet<string> => {
  const edges = new Map(graph.modules.map((module) => [module.source, module.dependencies.map((to) => to.resolved)]));
  const reached = new Set<string>();
  const waiting = [...starts];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    waiting.push(...(edges.get(path) ?? []), ...(path.endsWith('.ts') && existsSync(path) ? startedBy(path) : []));
  }
  return reached;
};
