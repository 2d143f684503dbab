import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { readPatch } from './added-lines.ts';
import { scanForSecrets, UNSCANNED_RULE } from './secret-scan.ts';

// Put together here, so that this file holds no credential.
const githubToken = ['ghp', 'a1B2'.repeat(9)].join('_');
const privateKey = generateKeyPairSync('rsa', { modulusLength: 4096 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();

const added = (path: string, first: number, text: string) => ({
  path,
  lines: text.split('\n').map((line, at) => ({ number: first + at, text: line })),
});
const scan = async (...files: ReturnType<typeof added>[]) =>
  (await scanForSecrets(files)).map(({ rule, path, line }) => [rule, path, line]);

describe('secret scan', () => {
  test('names rule, path and line of a credential', async () => {
    expect(await scan(added('src/a.ts', 10, `const a = 1;\nconst token = '${githubToken}';`))).toEqual([
      ['github/GITHUB_TOKEN', 'src/a.ts', 11],
    ]);
  });

  test.each([
    ['a private key', privateKey, 'privatekey/PrivateKey'],
    ['an access key id', `id = ${['AK', 'IAQYLPMN5HNM4OZ56B'].join('')}`, 'aws/AWSAccessKeyID'],
    ['a password in an URL', `https://user:${'hunter2'}pass@example.com/`, 'basicauth/BasicAuth'],
    [
      'a connection string',
      `postgres://user:${'p4ssw0rd'}Xyz@db.internal/app`,
      'database-connection-string/PostgreSQLConnection',
    ],
  ])('finds %s', async (_, text, rule) => {
    expect((await scan(added('a', 1, text))).map(([found]) => found)).toContain(rule);
  });

  test.each([
    ['Ed25519', generateKeyPairSync('ed25519')],
    ['EC', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['RSA', generateKeyPairSync('rsa', { modulusLength: 2048 })],
  ])('names a private key of type %s once', async (_, pair) => {
    const pem = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trimEnd();
    expect(await scan(added('key.pem', 7, `first\n${pem}`))).toEqual([['privatekey/PrivateKey', 'key.pem', 8]]);
  });
  test('E9: never repeats the secret', async () => {
    const findings = await scanForSecrets([added('a', 1, `${githubToken}\n${privateKey}`)]);
    expect(findings).toHaveLength(2);
    expect(JSON.stringify(findings)).not.toContain(githubToken.slice(6));
    expect(JSON.stringify(findings)).not.toContain(privateKey.slice(60, 80));
  });

  test('cannot be switched off by a comment in the scanned text', async () => {
    expect(await scan(added('a.ts', 1, `// secretlint-disable\n${githubToken}`))).toHaveLength(1);
  });

  test('is not confused by lines in between that were not added', async () => {
    const lines = [
      { number: 3, text: 'x' },
      { number: 9, text: 'y' },
      { number: 20, text: githubToken },
    ];
    expect(await scan({ path: 'a', lines })).toEqual([['github/GITHUB_TOKEN', 'a', 20]]);
  });

  test('finds a secret across pieces of a long file, once and at its line', async () => {
    const filler = 'lorem ipsum\n'.repeat(43_690);
    expect(await scan(added('a', 1, `${filler}${privateKey}${filler}${githubToken}`))).toEqual([
      ['privatekey/PrivateKey', 'a', 43_691],
      ['github/GITHUB_TOKEN', 'a', 43_690 * 2 + privateKey.split('\n').length],
    ]);
  });

  test('sorts by place', async () => {
    expect(await scan(added('b', 9, githubToken), added('a', 10, githubToken), added('a', 9, githubToken))).toEqual([
      ['github/GITHUB_TOKEN', 'a', 9],
      ['github/GITHUB_TOKEN', 'a', 10],
      ['github/GITHUB_TOKEN', 'b', 9],
    ]);
  });

  test('E1: reads text with U+0000 and lone surrogates', async () => {
    expect(await scan(added('a\0', 1, `a\0b \ud800 ${githubToken}`))).toEqual([['github/GITHUB_TOKEN', 'a\0', 1]]);
  });

  test.each(['utf16le', 'latin1'] as const)('finds a credential between zero bytes: %s', async (encoding) => {
    const wide = Buffer.from(`a\0\n${githubToken}\0b\n${privateKey}`, encoding).toString('latin1');
    expect(await scan(added('a', 1, wide))).toEqual([
      ['github/GITHUB_TOKEN', 'a', 2],
      ['privatekey/PrivateKey', 'a', 3],
    ]);
  });

  test('finds a credential in UTF-32', async () => {
    const wide = [...`a\n${githubToken}`].map((letter) => `${letter}\0\0\0`).join('');
    expect(await scan(added('a', 1, wide))).toEqual([['github/GITHUB_TOKEN', 'a', 2]]);
  });

  test('finds nothing where nothing is', async () => {
    expect(await scan(added('README.md', 1, 'See https://example.com/user and set TOKEN=$TOKEN'))).toEqual([]);
    expect(await scan()).toEqual([]);
  });

  test('says what it did not look at', async () => {
    const line = 'x'.repeat(1024 * 1024);
    const huge = { path: 'huge.bin', lines: [{ number: 1, text: line.repeat(65) }] };
    expect(await scan(huge)).toEqual([[UNSCANNED_RULE, 'huge.bin', 1]]);
  });
});

describe('a patch', () => {
  const patch = [
    'diff --git a/x.ts b/x.ts',
    'index 1..2 100644',
    '--- a/x.ts',
    '+++ b/x.ts',
    '@@ -1 +1,2 @@ function a() {',
    '-old',
    '+new',
    '+++ looks like a header',
    '@@ -8,3 +9,4 @@',
    ' before',
    '+last',
    '',
    ' @@ -1 +1 @@',
    'diff --git a/gone b/gone',
    '--- a/gone',
    '+++ /dev/null',
    '@@ -1 +0,0 @@',
    '-diff --git a/fake b/fake',
    'diff --git "a/t\\303\\244b\\t \\"q.txt" "b/t\\303\\244b\\t \\"q.txt"',
    'new file mode 100644',
    '--- /dev/null',
    '+++ "b/t\\303\\244b\\t \\"q.txt"',
    '@@ -0,0 +1 @@',
    '+x',
    '\\ No newline at end of file',
    'diff --git a/a b/b c.png b/a b/b c.png',
    'index 1..2 100644',
    'GIT binary patch',
    'literal 4',
    'LcmZQzWMT#Y01f~L',
    '',
    'literal 0',
    'HcmV?d00001',
    '',
    'diff --git a/z b/z',
    'Binary files a/z and b/z differ',
    '',
  ].join('\n');

  test('tells what it adds, where', () => {
    expect(readPatch(patch).added).toEqual([
      {
        path: 'x.ts',
        lines: [
          { number: 1, text: 'new' },
          { number: 2, text: '++ looks like a header' },
          { number: 10, text: 'last' },
        ],
      },
      { path: 'täb\t "q.txt', lines: [{ number: 1, text: 'x' }] },
    ]);
  });

  test('names binary files', () => {
    expect(readPatch(patch).binary).toEqual(['a b/b c.png', 'z']);
  });

  test('that is empty adds nothing', () => {
    expect(readPatch('')).toEqual({ added: [], binary: [] });
  });
});
