/** Names of what is asked outside, by many lineages: safe in the names of streams. */

const GIT = 'git.';
const MODEL = 'model.';

const URL_HOST = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/@]*@)?([^/:]+)/i;
const SCP_HOST = /^(?:[^/@:]+@)?([^/:]+):(?!\/\/)/;

const plain = (name: string): string => name.replaceAll(/[^A-Za-z0-9_.-]/g, '_');

/** The host of a git address, as `git.HOST`; null for a folder of this machine. */
export const gitProvider = (url: string): string | null => {
  if (/^file:/i.test(url) || url.startsWith('/') || url.startsWith('.')) return null;
  const host = URL_HOST.exec(url)?.[1] ?? SCP_HOST.exec(url)?.[1];
  return host === undefined ? null : `${GIT}${plain(host.toLowerCase())}`;
};

/** A model by the name that tasks use, as `model.NAME`. */
export const modelProvider = (name: string): string => `${MODEL}${plain(name)}`;

export const isGitProvider = (provider: string): boolean => provider.startsWith(GIT);
