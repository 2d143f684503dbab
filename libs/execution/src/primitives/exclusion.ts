import { z } from 'zod';

/** What no commit of a step should hold: caches of tools, written beside the sources. */
export const cachePaths: readonly string[] = [
  '__pycache__',
  '*.pyc',
  '.pytest_cache',
  '.mypy_cache',
  '.ruff_cache',
  '.tox',
  '.venv',
  'node_modules',
  '.npm',
  '.eslintcache',
  '.turbo',
  '.parcel-cache',
  '.nyc_output',
  'go/pkg',
  '.gradle',
  '.cache',
  '.DS_Store',
];

/** A path as in `.gitignore`: anywhere, or from the top with a leading slash; `*` within one part. */
export const exclusion = z
  .string()
  .min(1)
  .regex(/^[^\0\n:]*$/, 'holds no colon, line end or U+0000')
  .refine((path) => path.replace(/^\/|\/$/g, '') !== '', 'names something');

/** Pathspecs for everything but the exclusions; git's long form, which names of any spelling cannot break. */
export const allBut = (exclude: readonly string[]): string[] => [
  '.',
  ...exclude.flatMap((path) => {
    const name = path.replace(/^\/|\/$/g, '');
    const anywhere = path.startsWith('/') ? name : `**/${name}`;
    return [`:(top,exclude,glob)${anywhere}`, `:(top,exclude,glob)${anywhere}/**`];
  }),
];

/** Pathspecs for the exclusions alone. */
export const only = (exclude: readonly string[]): string[] =>
  allBut(exclude)
    .slice(1)
    .map((pathspec) => pathspec.replace('exclude,', ''));
