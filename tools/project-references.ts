import { dirname, normalize } from 'node:path';
import { z } from 'zod';
import type { SourceFile } from './tidy-rules.ts';

const manifestSchema = z.object({ name: z.string(), dependencies: z.record(z.string(), z.string()).default({}) });
const projectSchema = z.object({ references: z.array(z.object({ path: z.string() })).default([]) });

const references = (project: SourceFile): string[] =>
  projectSchema
    .parse(JSON.parse(project.text))
    .references.map(({ path }) => normalize(`${dirname(project.path)}/${path}`).replace(/\/$/, ''));

/**
 * The build order comes from the references of each tsconfig.json, so a dependency that is missing there is built late
 * or not at all.
 */
export const undeclaredReferences = (files: readonly SourceFile[], build: SourceFile): string[] => {
  const manifests = files.filter((file) => file.path.endsWith('/package.json'));
  const folderOf = new Map(
    manifests.map((file) => [manifestSchema.parse(JSON.parse(file.text)).name, dirname(file.path)] as const),
  );
  const built = references(build);
  return manifests.flatMap((file) => {
    const folder = dirname(file.path);
    const { dependencies } = manifestSchema.parse(JSON.parse(file.text));
    const project = files.find((candidate) => candidate.path === `${folder}/tsconfig.json`);
    const referred = project === undefined ? [] : references(project);
    const needed = Object.keys(dependencies).flatMap((name) => folderOf.get(name) ?? []);
    return [
      ...(built.includes(folder) ? [] : [`tsconfig.build.json: does not build ${folder}`]),
      ...needed
        .filter((other) => !referred.includes(other))
        .map((other) => `${folder}/tsconfig.json: no reference to ${other}`),
    ];
  });
};
