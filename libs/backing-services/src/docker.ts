import { access } from 'node:fs/promises';
import { connect } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';

const SOCKETS = ['/var/run/docker.sock', join(homedir(), '.docker/run/docker.sock')];
const ANSWER_MS = 1_000;

/**
 * True when a Docker engine answers a ping.
 * Without an engine this costs a look at two paths (under 1 ms), so it may be asked on every start.
 * @param dockerHost value of `DOCKER_HOST` (`unix:///…` or `tcp://host:port`), or null to look at the usual sockets.
 */
export const dockerAnswers = async (dockerHost: string | null): Promise<boolean> => {
  if (dockerHost !== null) return ping(target(dockerHost));
  for (const path of SOCKETS) {
    if ((await exists(path)) && (await ping({ path }))) return true;
  }
  return false;
};

type Target = { readonly path: string } | { readonly host: string; readonly port: number } | null;

const target = (dockerHost: string): Target => {
  const url = URL.parse(dockerHost);
  if (url?.protocol === 'unix:') return { path: url.pathname };
  if (url?.protocol === 'tcp:') return { host: url.hostname, port: Number(url.port || 2375) };
  return null;
};

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** A socket file may be left over from an engine that is gone: only an HTTP answer counts. */
const ping = (to: Target): Promise<boolean> => {
  if (to === null) return Promise.resolve(false);
  return new Promise((resolve) => {
    const socket = connect(to);
    const answer = (yes: boolean): void => {
      socket.destroy();
      resolve(yes);
    };
    socket.setTimeout(ANSWER_MS, () => answer(false));
    socket.once('error', () => answer(false));
    socket.once('end', () => answer(false));
    socket.once('data', (chunk) => answer(chunk.toString('latin1').startsWith('HTTP/1.1 200')));
    socket.once('connect', () => socket.write('GET /_ping HTTP/1.1\r\nHost: docker\r\nConnection: close\r\n\r\n'));
  });
};
