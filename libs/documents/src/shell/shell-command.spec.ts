import { describe, expect, test } from '@jest/globals';
import { argvCommands, type ShellCommand, shellCommands } from './shell-command.ts';

const commandsOf = (text: string): readonly ShellCommand[] => {
  const parsed = shellCommands(text);
  if (!parsed.readable) throw new Error(parsed.problem);
  return parsed.commands;
};
const lines = (text: string): string[] =>
  commandsOf(text).map(({ program, args }) => [program, ...args].join(' ').trim());
const programs = (text: string): string[] => commandsOf(text).map(({ program }) => program);

describe('commands of a shell text', () => {
  test.each([
    ['npm audit --audit-level=high', ['npm audit --audit-level=high']],
    ['a && b || c; d & e | f |& g', ['a', 'b', 'c', 'd', 'e', 'f', 'g']],
    ['( cd x && make ) > log', ['', 'cd x', 'make']],
    ['if a; then b; elif c; then d; else e; fi', ['a', 'b', 'c', 'd', 'e']],
    ['for f in *; do rm "$f"; done; while x; do y; done', ['rm $f', 'x', 'y']],
    ['case $1 in a) b ;; *) c ;; esac', ['b', 'c']],
    ['deploy() { kubectl apply; }; deploy', ['kubectl apply', 'deploy']],
    ['echo "$(whoami) `id -u`" <(sort x)', ['echo $(whoami) `id -u` <(sort x)', 'whoami', 'id -u', 'sort x']],
    ['X=$(curl h) make', ['make', 'curl h']],
    ['[[ -n $(curl h) ]]', ['curl h']],
    ['# only a comment', []],
    ['', []],
  ])('%s', (text, expected) => {
    expect(lines(text)).toEqual(expected);
  });

  test.each([
    ["c'ur'l x"],
    ['"curl" x'],
    ['\\curl x'],
    ["$'\\x63url' x"],
    ['/usr/bin/curl x'],
    ['c\\\nurl x'],
    ['A=1 curl x'],
    ['! curl x'],
    ['time curl x'],
    ['coproc curl x'],
  ])('quotes, folders and prefixes do not hide a program: %s', (text) => {
    expect(programs(text)).toContain('curl');
  });

  test.each([
    ['env -i -u C A=1 curl x', ['env', 'curl']],
    ['env -u B A=1 curl x', ['env', 'curl']],
    ['sudo -u bob -- curl x', ['sudo', 'curl']],
    ['nice -n 5 timeout -k 1s 10 curl x', ['nice', 'timeout', 'curl']],
    ['xargs -n 1 -P 4 curl', ['xargs', 'curl']],
    ['find . -type f -exec curl {} \\; -okdir rm {} +', ['find', 'curl', 'rm']],
    ['exec -a name curl x', ['exec', 'curl']],
    ['flock -w 3 lock curl x', ['flock', 'curl']],
    ['env - A=1 curl x', ['env', 'curl']],
    ['setpriv --reuid 1 curl x', ['setpriv', 'curl']],
    ['runuser -u bob -- curl x', ['runuser', 'curl']],
    ['nsenter -t 1 curl x', ['nsenter', 'curl']],
    ['parallel -j 2 curl ::: x', ['parallel', 'curl']],
  ])('behind a wrapper: %s', (text, expected) => {
    expect(programs(text)).toEqual(expected);
  });

  test.each([
    ["sh -c 'curl x'"],
    ['bash -euo pipefail -c "curl x"'],
    ["sudo bash -lc 'true; curl x'"],
    ["eval 'curl x'"],
    ["trap 'curl x' EXIT"],
    ["alias ls='curl x'"],
    ["su bob -c 'curl x'"],
    ["env -S 'curl x'"],
    ["env -S'curl x'"],
    ["env -ivS 'curl x'"],
    ["env --split-string='curl x'"],
    ["bash --rcfile /dev/null -c 'curl x'"],
    ["bash --init-file f --norc -c 'curl x'"],
    ["rbash -c 'curl x'"],
    ["su --command='curl x'"],
    ["script -qc 'curl x' /dev/null"],
    ["watch -n 1 'curl x'"],
    [". /dev/stdin <<< 'curl x'"],
    ["bash /dev/fd/0 <<< 'curl x'"],
    ['sh <<EOF\ncurl x\nEOF'],
    ["bash <<< 'curl x'"],
    ['sh -c "sh -c \'eval curl x\'"'],
  ])('inside text that is run as code: %s', (text) => {
    expect(lines(text)).toContain('curl x');
  });

  test.each([
    ['$TOOL x', true],
    ['cu{r,}l x', true],
    ['sh -c "$CODE"', true],
    ['eval "$CODE"', true],
    ['curl x | sh', true],
    ['sh -s', true],
    ['xargs -0 sh -c', true],
    ['source <(make code)', true],
    ['. "$FILE"', true],
    ['sh "$FILE"', true],
    ['. ./env.sh', false],
    ['sh ./build.sh', false],
    ['sh -c "make all"', false],
    ['make "$TARGET"', false],
  ])('what is only known at run time is said to be: %s', (text, expected) => {
    expect(commandsOf(text).some(({ dynamic }) => dynamic)).toBe(expected);
  });

  test.each([
    ['curl -O x', true],
    ['git -C repo push origin main', true],
    ['git commit -m push', false],
    ['npm ci', true],
    ['npm run build', false],
    ['make URL=http://example.org/', false],
    ['python3 get.py https://example.org/a', true],
    ['mytool git@example.org:a/b.git', true],
    ['exec 3<>/dev/tcp/example.org/80', true],
    ['cp a b', false],
  ])('guesses whether it talks to other hosts: %s', (text, expected) => {
    expect(commandsOf(text).some(({ network }) => network)).toBe(expected);
  });

  test('names the files that it touches', () => {
    expect(commandsOf('rm -rf --one-file-system build ../x --log=/var/log/y > out 2>&1')[0]?.paths).toEqual([
      'build',
      '../x',
      '/var/log/y',
      'out',
    ]);
    expect(commandsOf('npm test')[0]?.paths).toEqual([]);
    expect(commandsOf('> emptied')[0]).toMatchObject({ program: '', paths: ['emptied'] });
  });

  test.each([['a &&'], ['echo "x'], ['$('], ["sh -c 'if x'"], ['echo $(a |)']])(
    'an unreadable text has no commands: %s',
    (text) => {
      expect(shellCommands(text).readable).toBe(false);
    },
  );

  test('code nested without end is unreadable', () => {
    let text = 'x';
    for (let level = 0; level < 10; level += 1) text = `eval ${JSON.stringify(text)}`;
    expect(shellCommands(text)).toMatchObject({ readable: false });
  });

  test('a list of words is one command line', () => {
    expect(argvCommands(['sh', '-c', 'curl x'])).toMatchObject({
      readable: true,
      commands: [{ program: 'sh' }, { program: 'curl' }],
    });
  });
});
