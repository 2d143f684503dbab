import type { ShellWord } from './words.ts';
import { afterOptions } from './wrappers.ts';

/** Programs that talk to other hosts whatever they are told. */
const NETWORK_PROGRAMS: ReadonlySet<string> = new Set(
  `apk apt apt-get aria2c aws az curl dig ftp gcloud gh glab helm host http https kubectl lftp lynx mail ncat nc netcat
  nmap nslookup npx ping rclone rsync scp sendmail sftp skopeo socat ssh telnet terraform tftp traceroute w3m websocat
  wget whois yum dnf bunx uvx`.split(/\s+/),
);

/** Programs of which only some subcommands do. */
const NETWORK_SUBCOMMANDS: Readonly<Record<string, readonly string[]>> = {
  bun: ['add', 'i', 'install', 'update', 'publish', 'x'],
  bundle: ['install', 'update'],
  cargo: ['add', 'fetch', 'install', 'login', 'publish', 'search', 'update'],
  composer: ['install', 'require', 'update'],
  docker: ['build', 'login', 'pull', 'push', 'run', 'search'],
  gem: ['fetch', 'install', 'push', 'update'],
  git: ['clone', 'fetch', 'ls-remote', 'pull', 'push', 'send-email', 'submodule'],
  go: ['get', 'install'],
  npm: ['add', 'audit', 'ci', 'exec', 'i', 'install', 'outdated', 'publish', 'update', 'view', 'x'],
  openssl: ['s_client'],
  pip: ['download', 'install', 'search'],
  pip3: ['download', 'install', 'search'],
  pnpm: ['add', 'audit', 'dlx', 'i', 'install', 'publish', 'update'],
  podman: ['build', 'login', 'pull', 'push', 'run', 'search'],
  poetry: ['add', 'install', 'publish', 'update'],
  uv: ['add', 'pip', 'sync', 'tool'],
  yarn: ['add', 'audit', 'dlx', 'install', 'publish', 'up', 'upgrade'],
};

/** Options of these programs that take a value and stand before the subcommand. */
const VALUED_BEFORE_SUBCOMMAND = ['-C', '-c', '--git-dir', '--work-tree', '--prefix', '--cwd', '--manifest-path'];

/** Programs whose operands are files though they need not look like paths. */
const FILE_PROGRAMS: ReadonlySet<string> = new Set(
  `cat chgrp chmod chown cp dd head install less ln ls mkdir mv rm rmdir shred sort source stat tac tail tee touch
  truncate unlink wc .`.split(/\s+/),
);

const URL = /^[a-z][a-z0-9+.-]*:\/\/|^[\w.-]+@[\w.-]+:/i;
const isUrl = ({ text }: ShellWord): boolean => URL.test(text) && !/^file:/i.test(text);
const isSocket = ({ text }: ShellWord): boolean => /^\/dev\/(tcp|udp)\//.test(text);

/** Whether the command looks as if it talked to another host. A guess: a script or an unknown program may do so unseen. */
export const looksNetworked = (program: string, args: readonly ShellWord[], targets: readonly ShellWord[]): boolean => {
  if (NETWORK_PROGRAMS.has(program) || args.some(isUrl) || targets.some(isSocket)) return true;
  if (!Object.hasOwn(NETWORK_SUBCOMMANDS, program)) return false;
  const subcommand = args[afterOptions(args, VALUED_BEFORE_SUBCOMMAND)]?.text ?? '';
  // `yarn` and `bun` alone install.
  return NETWORK_SUBCOMMANDS[program]?.includes(subcommand) === true || (program === 'yarn' && subcommand === '');
};

/** Words that name files, as far as can be told: what looks like a path, operands of file programs, redirections. */
export const pathsIn = (program: string, args: readonly ShellWord[], targets: readonly ShellWord[]): string[] => {
  const named = args.map(({ text }) => (text.startsWith('-') ? text.slice(text.indexOf('=') + 1) : text));
  const paths = named.filter((text, at) => {
    if (text.startsWith('-') || text === '' || isUrl({ text, known: true })) return false;
    return text.includes('/') || /^[.~]/.test(text) || (FILE_PROGRAMS.has(program) && args[at]?.text === text);
  });
  return [...new Set([...paths, ...targets.map(({ text }) => text)])];
};
