import { lstatSync } from 'node:fs';

/** A recipe may leave anything in place of a file of git's; a named pipe, for one, is never read to its end. */
export const isFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
