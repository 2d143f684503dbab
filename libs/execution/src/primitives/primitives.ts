import { commit } from './commit.ts';
import { copyTree, treesEqual } from './copy-tree.ts';
import { counter, counterAt } from './counter.ts';
import { fileMatches } from './file-matches.ts';
import { fileWrite } from './file-write.ts';
import { gitApplyPatch, gitPatchApplied } from './git-apply-patch.ts';
import { gitBranch, gitOnBranch } from './git-branch.ts';
import { gitClean } from './git-clean.ts';
import { jsonNormalise, jsonNormalised } from './json-normalise.ts';
import { jsonMatches, jsonSet } from './json-set.ts';
import { fileHasLine, lineInFile } from './line-in-file.ts';
import type { Primitive, PrimitiveContext, PrimitiveResult } from './primitive.ts';

/** In the order of the reference: each step, then the check that belongs to it. */
const catalogue: readonly Primitive[] = [
  commit,
  gitClean,
  gitBranch,
  gitOnBranch,
  gitApplyPatch,
  gitPatchApplied,
  fileWrite,
  fileMatches,
  lineInFile,
  fileHasLine,
  jsonNormalise,
  jsonNormalised,
  jsonSet,
  jsonMatches,
  copyTree,
  treesEqual,
  counter,
  counterAt,
];

/** Every primitive of this version by name. */
export const primitives: ReadonlyMap<string, Primitive> = new Map(
  catalogue.map((primitive) => [primitive.name, primitive]),
);

/** For lint: which there are, and what is wrong with the parameters of one, one sentence each. */
export const knownPrimitives = {
  names: [...primitives.keys()],
  problems: (name: string, parameters: unknown): readonly string[] =>
    primitives.get(name)?.problems(parameters) ?? [`there is no primitive ${name}`],
  hasEffects: (name: string): boolean => primitives.get(name)?.effects ?? false,
};

/**
 * Runs a primitive, as a recipe or as a check.
 * @throws when there is no such primitive or its parameters are wrong: lint admits no such document.
 */
export const runPrimitive = async (
  name: string,
  parameters: unknown,
  context: PrimitiveContext,
): Promise<PrimitiveResult> => {
  context.signal.throwIfAborted();
  const primitive = primitives.get(name);
  if (primitive === undefined) throw new Error(`there is no primitive ${name}`);
  if (!primitive.inProcess && context.folder === null) throw new Error(`${name} needs a folder`);
  return primitive.run(context, parameters);
};
