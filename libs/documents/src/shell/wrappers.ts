import type { ShellWord } from './words.ts';

/** How a program that runs another one is called. */
interface Wrapper {
  /** Options that take the next word as their value. */
  readonly valued: readonly string[];
  /** Words of its own between the options and the program it runs. */
  readonly positionals?: number;
  /** `NAME=value` words stand before the program. */
  readonly assignments?: boolean;
}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  builtin: { valued: [] },
  busybox: { valued: [] },
  chroot: { valued: [], positionals: 1 },
  chrt: { valued: ['-T', '-P', '-D'], positionals: 1 },
  command: { valued: [] },
  doas: { valued: ['-C', '-u'] },
  env: { valued: ['-u', '--unset', '-C', '--chdir', '-S', '--split-string'], assignments: true },
  exec: { valued: ['-a'] },
  flock: { valued: ['-E', '-w', '--timeout', '--conflict-exit-code'], positionals: 1 },
  ionice: { valued: ['-c', '-n', '--class', '--classdata'] },
  nice: { valued: ['-n', '--adjustment'] },
  nohup: { valued: [] },
  nsenter: { valued: ['-t', '--target', '-S', '--setuid', '-G', '--setgid'] },
  parallel: { valued: ['-j', '--jobs', '-a', '--arg-file', '-I', '-n', '--max-args', '-S', '--sshlogin'] },
  runuser: { valued: ['-u', '--user', '-g', '--group', '-G', '--supp-group', '-s', '--shell', '-c', '--command'] },
  setpriv: { valued: ['--reuid', '--regid', '--ruid', '--euid', '--rgid', '--egid', '--groups', '--securebits'] },
  setsid: { valued: [] },
  stdbuf: { valued: ['-i', '-o', '-e', '--input', '--output', '--error'] },
  strace: { valued: ['-e', '-o', '-p', '-s', '-u', '-E'] },
  sudo: {
    valued: ['-u', '-g', '-h', '-p', '-C', '-D', '-R', '-T', '-U', '-r', '-t', '--user', '--group'],
    assignments: true,
  },
  taskset: { valued: [], positionals: 1 },
  time: { valued: ['-f', '-o'] },
  timeout: { valued: ['-s', '-k', '--signal', '--kill-after'], positionals: 1 },
  unshare: { valued: ['-S', '-G', '-R', '-w', '--root', '--wd'] },
  watch: { valued: ['-n', '--interval'] },
  xargs: { valued: ['-a', '-d', '-E', '-I', '-L', '-n', '-P', '-s', '--arg-file', '--delimiter', '--max-args'] },
};

const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'rbash', 'dash', 'ash', 'zsh', 'ksh', 'ksh93', 'mksh']);

const isAssignment = (word: ShellWord | undefined): boolean => /^[A-Za-z_][A-Za-z0-9_]*\+?=/.test(word?.text ?? '');

/** 0-based place of the first word that is neither an option nor the value of one. */
export const afterOptions = (words: readonly ShellWord[], valued: readonly string[]): number => {
  let at = 0;
  for (let word = words[at]; word?.text.startsWith('-') && word.text !== '-'; word = words[at]) {
    at += 1;
    if (word.text === '--') break;
    if (valued.includes(word.text)) at += 1;
  }
  return at;
};

/** Words of the command line that a wrapper (`env`, `sudo`, `timeout`, `xargs`, …) runs; empty when it runs none. */
export const wrappedWords = (program: string, args: readonly ShellWord[]): readonly ShellWord[] => {
  const wrapper = Object.hasOwn(WRAPPERS, program) ? WRAPPERS[program] : undefined;
  if (wrapper === undefined) return [];
  let at = afterOptions(args, wrapper.valued) + (wrapper.positionals ?? 0);
  // `env -` is `env -i`.
  if (program === 'env' && args[at]?.text === '-') at += 1;
  while (wrapper.assignments === true && isAssignment(args[at])) at += 1;
  return args.slice(at);
};

/** What `find` runs for each file: one command line per `-exec`. */
export const linesOfFind = (args: readonly ShellWord[]): readonly (readonly ShellWord[])[] => {
  const lines: ShellWord[][] = [];
  let isOpen = false;
  for (const word of args) {
    if (isOpen && (word.text === ';' || word.text === '+')) isOpen = false;
    else if (isOpen) lines.at(-1)?.push(word);
    else if (/^-(exec|execdir|ok|okdir)$/.test(word.text)) isOpen = lines.push([]) > 0;
  }
  return lines;
};

const isOperand = (word: ShellWord): boolean => !/^[-+]/.test(word.text);

/** How a shell is called: with code as a word, with code on its standard input, or (neither) with the name of a file. */
interface ShellCall {
  readonly text: ShellWord | null;
  readonly readsInput: boolean;
}

/** Code that is not in the text: added by `xargs`, or written to a file whose name is only known at run time. */
const UNSEEN: ShellWord = { text: '', known: false };

/** The options of shells whose value is the next word. */
const isValued = (option: string): boolean => /^([-+][A-Za-z]*[oO]|--rcfile|--init-file)$/.test(option);

/** @returns null when the program is no shell and does not make one read code. */
export const shellCall = (program: string, args: readonly ShellWord[]): ShellCall | null => {
  const [file] = args;
  if (program === '.' || program === 'source') return file === undefined ? null : fileCall(file);
  return SHELLS.has(program) ? calledWith(args.filter((_, at) => !isValued(args[at - 1]?.text ?? ''))) : null;
};

const calledWith = (words: readonly ShellWord[]): ShellCall => {
  for (const [at, word] of words.entries()) {
    if (isOperand(word)) return fileCall(word);
    if (hasFlag(word, 'c')) return { text: words.slice(at + 1).find(isOperand) ?? UNSEEN, readsInput: false };
    if (hasFlag(word, 's')) break;
  }
  return { text: null, readsInput: true };
};

/** Code from a file, which may be the standard input or made while the command runs. */
const fileCall = ({ text, known }: ShellWord): ShellCall => ({
  text: known ? null : UNSEEN,
  readsInput: known && /^\/(dev\/(stdin|fd\/)|proc\/self\/fd\/)/.test(text),
});

const hasFlag = ({ text }: ShellWord, flag: string): boolean => /^-[A-Za-z]+$/.test(text) && text.includes(flag);

/** Texts that a program runs as shell code, at once or later. */
export const textsRunBy = (program: string, args: readonly ShellWord[]): readonly ShellWord[] => {
  switch (program) {
    case 'eval':
      return [{ text: args.map((word) => word.text).join(' '), known: args.every((word) => word.known) }];
    case 'trap':
      return args.slice(0, 1).filter(isOperand);
    case 'alias':
      return args.filter((word) => word.text.includes('=')).map(afterEquals);
    case 'su':
    case 'runuser':
    case 'script':
      return optionValue(args, /^(--command(=|$)|-[A-Za-z]*c)/);
    case 'flock':
      return optionValue(args, /^(--command(=|$)|-c$)/);
    case 'env':
      return optionValue(
        args.slice(0, args.length - wrappedWords(program, args).length + 1),
        /^(--split-string(=|$)|-[a-z]*S)/,
      );
    case 'watch':
      return wrappedWords(program, args).filter(({ text }) => /\s/.test(text));
    default:
      return [];
  }
};

const afterEquals = ({ text, known }: ShellWord): ShellWord => ({ text: text.slice(text.indexOf('=') + 1), known });

/** The value of the first option that matches: what stands after the match in the same word, else the next word. */
const optionValue = (args: readonly ShellWord[], option: RegExp): readonly ShellWord[] => {
  const at = args.findIndex(({ text }) => option.test(text));
  const word = args[at];
  if (word === undefined) return [];
  const attached = word.text.replace(option, '');
  return attached === '' ? args.slice(at + 1, at + 2) : [{ text: attached, known: word.known }];
};
