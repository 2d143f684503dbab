import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Debian puts the server here, which is not on the PATH of an ordinary user. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/usr/local/sbin'];

/** Where `nats-server` is, or null. An empty `path` finds nothing at all. */
export const findNatsServer = async (path: string): Promise<string | null> => {
  const folders = path === '' ? [] : [...path.split(delimiter), ...SYSTEM_FOLDERS];
  for (const folder of folders) {
    const candidate = join(folder, 'nats-server');
    if (await isExecutable(candidate)) return candidate;
  }
  return null;
};

/**
 * Installs Debian's `nats-server` without starting its system service.
 * @returns its path, or why there is none.
 */
export const installNatsServer = async (
  path: string,
  onProgress: (line: string) => void,
): Promise<string | { readonly kind: 'none'; readonly reason: string }> => {
  const refused = await cannotInstall(path);
  if (refused !== null) return { kind: 'none', reason: `nats-server is not installed, and ${refused}` };
  onProgress('installing nats-server with apt-get');
  try {
    await aptGet('update', '-q');
    await aptGet('install', '-q', '-y', '--no-install-recommends', 'nats-server');
  } catch (error) {
    return { kind: 'none', reason: `apt-get could not install nats-server: ${lastLine(error)}` };
  }
  return (await findNatsServer(path)) ?? { kind: 'none', reason: 'apt-get installed no nats-server' };
};

/** At runlevel 1 the package's own service is installed but not started. The rest of the environment (proxies) stays. */
const aptGet = (...args: string[]): Promise<unknown> =>
  execute('env', ['DEBIAN_FRONTEND=noninteractive', 'RUNLEVEL=1', 'LC_ALL=C', 'apt-get', ...args], {
    timeout: 180_000,
    maxBuffer: 16 * 1024 * 1024,
  });

const cannotInstall = async (path: string): Promise<string | null> => {
  if (userInfo().uid !== 0) return 'only root may install it';
  for (const folder of path.split(delimiter)) {
    if (await isExecutable(join(folder, 'apt-get'))) return null;
  }
  return 'this system has no apt-get';
};

const lastLine = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().split('\n').at(-1) ?? text;
};

const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
