import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';

/** Where a local installation answers; kept in its data folder while it runs. */
const installationFileSchema = z.object({
  write_url: z.string(),
  audit_url: z.string(),
  /** Of the process that runs it. */
  pid: z.int().positive().optional(),
});
export type InstallationFile = z.infer<typeof installationFileSchema>;

export interface Place {
  /** As given with `--data`. */
  readonly data: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

const FILE = 'installation.json';
const FOLDER = '.fixpoint';

const named = ({ data, env, cwd }: Place): string | null => {
  const folder = data ?? env.FIXPOINT_HOME ?? '';
  return folder === '' ? null : resolve(cwd, folder);
};

/** Data folder of an installation that is to be started here. */
export const dataFolder = (place: Place): string => named(place) ?? join(place.cwd, FOLDER);

/** The installation of the named folder, else of the nearest `.fixpoint` here or above; null when there is none. */
export const findInstallation = async (place: Place): Promise<InstallationFile | null> => {
  const folder = named(place);
  if (folder !== null) return installationIn(folder);
  for (let at = place.cwd; ; at = dirname(at)) {
    const found = await installationIn(join(at, FOLDER));
    if (found !== null || dirname(at) === at) return found;
  }
};

/** The installation of this folder; null when there is none. @throws when its file is damaged */
export const installationIn = async (folder: string): Promise<InstallationFile | null> => {
  const file = join(folder, FILE);
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    return installationFileSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`${file} is damaged: remove it and start the installation again`, { cause });
  }
};

/** Whole or not at all, so that nobody reads half of it. */
export const writeInstallation = async (folder: string, file: InstallationFile): Promise<void> => {
  await mkdir(folder, { recursive: true });
  const unfinished = join(folder, `${FILE}.unfinished`);
  await writeFile(unfinished, `${JSON.stringify(file, null, 2)}\n`);
  await rename(unfinished, join(folder, FILE));
};

export const removeInstallation = (folder: string): Promise<void> => rm(join(folder, FILE), { force: true });
