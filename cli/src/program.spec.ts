import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { commandLine } from './command-line.fixture.ts';
import { lineage as knownLineage } from './lineage.fixture.ts';

const COMMANDS = [
  'up',
  'demo',
  'submit',
  'watch',
  'tree',
  'events',
  'result',
  'lint',
  'print',
  'primitive',
  'publish',
  'dlq',
  'handoffs',
  'decide',
];
const GOOD = 'kind: task/v1\nname: a\ngoal: It is made\nrecipe: { command: make }\n';

let folder: string;
const write = (name: string, text: string | Uint8Array): string => {
  writeFileSync(join(folder, name), text);
  return name;
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fixpoint-cli-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('help', () => {
  test('names every command, exit code and variable', async () => {
    const { code, stdout } = await commandLine(['--help']);
    expect(code).toBe(0);
    for (const command of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'));
    for (const exit of [0, 1, 2, 3, 4, 5, 6, 7, 130]) expect(stdout).toMatch(new RegExp(`^  ${exit} +\\S`, 'm'));
    expect(stdout).toContain('FIXPOINT_AUDIT_URL');
  });
  test.each(COMMANDS)('of %s explains its options', async (command) => {
    const { code, stdout } = await commandLine([command, '--help']);
    expect([code, stdout]).toEqual([0, expect.stringContaining('--json')]);
  });
});

test('--version is that of the package', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  expect(await commandLine(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

describe('arguments that are wrong', () => {
  test.each([
    ['an unknown command', ['fly']],
    ['an unknown option', ['tree', 'x', '--colour']],
    ['a missing argument', ['tree']],
    ['one argument too many', ['tree', 'a', 'b']],
    ['a port that is none', ['up', '--port', '70000']],
    ['a time that is none', ['watch', 'x', '--timeout', 'soon']],
    ['an address that is none', ['tree', 'x', '--url', 'localhost:4100']],
    ['an example that does not exist', ['demo', '--only', 'nothing']],
    ['five processes without NATS', ['up', '--processes', '--nats', 'none', '--data', '/tmp/fixpoint-never']],
  ])('%s: one sentence, a hint, exit code 2', async (_, args) => {
    const { code, stdout, stderr } = await commandLine(args, { cwd: folder });
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^fixpoint: .+\n {2}hint: .+\n$/);
  });
  test('without a command it says what there is', async () => {
    const { code, stderr } = await commandLine([]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('Usage: fixpoint')]);
  });
  test('one key for two documents is refused before anything is read', async () => {
    const { code, stderr } = await commandLine(['submit', 'a', 'b', '--key', 'k'], { cwd: folder });
    expect([code, stderr]).toEqual([2, expect.stringContaining('one key')]);
  });
});

describe('a file that can not be used', () => {
  test.each([
    ['missing', 'missing.yaml', 'there is no such file'],
    ['a folder', '.', 'it is a folder'],
  ])('%s', async (_, file, reason) => {
    const { code, stderr } = await commandLine(['lint', file], { cwd: folder });
    expect([code, stderr]).toEqual([2, `fixpoint: ${file} can't be read: ${reason}\n`]);
  });
  test('other bytes than UTF-8', async () => {
    const file = write('latin1.yaml', Buffer.from([0x6b, 0xe9]));
    const { code, stderr } = await commandLine(['lint', file], { cwd: folder });
    expect([code, stderr]).toEqual([2, `fixpoint: ${file} is not UTF-8 text\n`]);
  });
});

describe('lint', () => {
  test('finds a command rule that would block the fix of a validator of the same protocol', async () => {
    const post = '[{ id: audit, overridable: true, check: { command: curl -f x }, fix: { command: mend } }]';
    const rule = '{ id: offline, deny: "network", message: stay offline }';
    const text = `kind: protocol/v1\nname: p\nproject: x\nmodes:\n  build: { command_rules: [${rule}], post: ${post} }\n`;
    const { code, stdout } = await commandLine(['lint', write('denied.yaml', text)], { cwd: folder });
    expect([code, stdout]).toEqual([2, expect.stringContaining('error FX209: The command rule `offline` denies')]);
  });

  test('X17 says of a good task what it can cost at most', async () => {
    expect(await commandLine(['lint', write('good.yaml', GOOD)], { cwd: folder })).toEqual({
      code: 0,
      stdout:
        'good.yaml: at most 3 recipe runs, 0 checks, 99 model calls, 0 fixes, 27 runs of agents, 8 children, 50 money and 24 h under default@1\n',
      stderr: '',
    });
  });
  test('names place, code and what to write instead', async () => {
    const file = write('bad.yaml', GOOD.replace('recipe:', 'policy: optional\nrecipe:'));
    const { code, stdout } = await commandLine(['lint', file], { cwd: folder });
    expect(code).toBe(2);
    expect(stdout).toMatch(/^bad\.yaml:4:9: error FX103: .+\n {2}hint: .+\n$/);
  });
  test('tells programs about each file in one line', async () => {
    const { code, stdout } = await commandLine(['lint', '--json', 'good.yaml', 'bad.yaml'], { cwd: folder });
    const [good, bad] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(code).toBe(2);
    expect(good).toMatchObject({ file: 'good.yaml', diagnostics: [], worst_case: { recipe_runs: 3 } });
    expect(bad.diagnostics).toMatchObject([{ code: 'FX103', line: 4, column: 9, severity: 'error' }]);
  });
  test('answers with one SARIF log for code scanning', async () => {
    const { code, stdout, stderr } = await commandLine(['lint', '--format', 'sarif', 'good.yaml', 'bad.yaml', 'none'], {
      cwd: folder,
    });
    const { version, runs } = JSON.parse(stdout);
    expect([code, version, stderr]).toEqual([2, '2.1.0', "fixpoint: none can't be read: there is no such file\n"]);
    expect(runs[0].artifacts.map(({ properties }: { properties: object }) => Object.keys(properties))).toEqual([
      ['worst_case'],
      [],
      [],
    ]);
    expect(runs[0].results).toMatchObject([{ ruleId: 'FX103', level: 'error' }]);
    expect(runs[0].invocations[0].executionSuccessful).toBe(false);
  });
  test('X17 counts in the fixes of a protocol, and knows its modes', async () => {
    const fix = '{ id: a, check: { command: x }, overridable: true, fix: { command: y } }';
    const protocol = write(
      'p.yaml',
      `kind: protocol/v1\nname: p\nproject: shop\nmodes: { build: { post: [${fix}] } }\n`,
    );
    const { code, stdout } = await commandLine(['lint', '--protocol', protocol, 'good.yaml'], { cwd: folder });
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^good\.yaml: at most 3 recipe runs, .+ 10 fixes, .+ under p\n$/),
    ]);
    const other = write('other.yaml', `${GOOD}mode: audit\n`);
    expect(await commandLine(['lint', '--protocol', protocol, other], { cwd: folder })).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('error FX120'),
    });
    expect((await commandLine(['lint', other], { cwd: folder })).stdout).toBe('');
  });
  test('says nothing of tasks under a protocol that is no good', async () => {
    const bad = write(
      'bad-protocol.yaml',
      'kind: protocol/v1\nname: p\nproject: shop\nmodes: { build: { pre: [] } }\n',
    );
    const { code, stdout, stderr } = await commandLine(['lint', '--protocol', bad, 'good.yaml'], { cwd: folder });
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining('bad-protocol.yaml:4:24: error FX201')]);
  });
  test.each([
    ['a format that there is not', ['--format', 'xml']],
    ['two formats', ['--format', 'sarif', '--json']],
  ])('%s is refused', async (_, options) => {
    const { code, stderr } = await commandLine(['lint', ...options, 'good.yaml'], { cwd: folder });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^fixpoint: .+\n {2}hint: .+\n$/)]);
  });
  test('answers for the other files when one can not be read', async () => {
    const { code, stdout, stderr } = await commandLine(['lint', 'good.yaml', 'missing.yaml', 'bad.yaml'], {
      cwd: folder,
    });
    expect([code, stderr]).toEqual([2, "fixpoint: missing.yaml can't be read: there is no such file\n"]);
    expect(stdout).toMatch(/^good\.yaml: at most /m);
    expect(stdout).toMatch(/^bad\.yaml:4:9: error FX103/m);
    const asJson = await commandLine(['lint', '--json', 'missing.yaml'], { cwd: folder });
    expect([asJson.code, JSON.parse(asJson.stdout)]).toMatchObject([2, { error: { code: 'unreadable' } }]);
  });
  test('knows protocols by their kind', async () => {
    const { code, stdout } = await commandLine(['lint', '-'], {
      stdin: 'kind: protocol/v1\nname: p\nproject: p\nmodes:\n  build:\n    pre: []\n',
    });
    expect([code, stdout]).toEqual([2, expect.stringContaining('-:6:10: error FX201')]);
  });
  test('takes a path of a repository for what it will be made of', async () => {
    const { code, stdout } = await commandLine(['lint', '-'], {
      stdin: `${GOOD}workspace: { git: { url: ./repo, ref: main } }\n`,
    });
    expect([code, stdout]).toEqual([0, expect.not.stringContaining('error')]);
  });
});

describe('print', () => {
  test('writes a document in its one form, which reads back as the same', async () => {
    const first = await commandLine(['print', '-'], {
      stdin: '{"kind": "task/v1", "name": "a", "recipe": {"command": "make"}}',
    });
    const hint = '# yaml-language-server: $schema=http://127.0.0.1:4100/v1/schemas/task.v1.json\n';
    expect(first).toMatchObject({ code: 0, stdout: `${hint}kind: task/v1\nname: a\nrecipe:\n  command: make\n` });
    expect(await commandLine(['print', '-'], { stdin: first.stdout })).toEqual(first);
  });
  test.each([
    [
      'of the installation that is named',
      {},
      { FIXPOINT_URL: 'https://fix.example/' },
      'https://fix.example/v1/schemas/',
    ],
    [
      'without a password (E9)',
      {},
      { FIXPOINT_URL: 'https://me:secret@fix.example/base' },
      'https://fix.example/base/v1/schemas/',
    ],
    ['of this machine when the address is none', {}, { FIXPOINT_URL: '' }, 'http://127.0.0.1:4100/v1/schemas/'],
    ['of a folder', { schema: './schemas/' }, {}, './schemas/'],
  ])('tells editors the schema %s', async (_, { schema }: { schema?: string }, env, folder) => {
    const { stdout } = await commandLine(['print', '-', ...(schema === undefined ? [] : ['--schema', schema])], {
      stdin: 'kind: protocol/v1\nname: p\nproject: shop\nmodes: { build: {} }\n',
      env,
    });
    expect(stdout.split('\n', 1)).toEqual([`# yaml-language-server: $schema=${folder}protocol.v1.json`]);
  });
  test('leaves the schema out when asked', async () => {
    const { stdout } = await commandLine(['print', '-', '--schema', 'none'], { stdin: GOOD });
    expect(stdout).toMatch(/^kind: /);
  });
  test('prints nothing of what it can not read, and says why', async () => {
    const { code, stdout, stderr } = await commandLine(['print', '-'], { stdin: 'kind: task/v1\nname: [\n' });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('error');
  });
});

describe('an installation', () => {
  let server: Server;
  let url: string;
  const seen: string[] = [];

  beforeAll(async () => {
    server = createServer((request, response) => {
      seen.push(`${request.headers.authorization ?? ''} ${request.url}`);
      const [status, body] = ANSWERS.find(([path]) => request.url?.includes(path))?.[1] ?? [
        404,
        refusal('lineage_unknown'),
      ];
      response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '3' }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  });
  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve));
  });

  const refusal = (code: string) => ({ code, detail: `detail of ${code}`, diagnostics: [] });
  const ANSWERS: readonly (readonly [string, readonly [number, unknown]])[] = [
    ['lineages/denied', [401, refusal('key_unknown')]],
    ['lineages/busy', [429, refusal('too_many')]],
    ['lineages/broken', [500, refusal('internal')]],
    ['lineages/known', [200, knownLineage]],
    ['/events', [200, { items: [], next: null }]],
    ['lineages/strange', [200, { hello: 'world' }]],
  ];

  test.each([
    ['unknown', 5, 'detail of lineage_unknown (lineage_unknown)'],
    ['denied', 5, 'hint: give a key'],
    ['busy', 5, 'hint: try again in 3 s'],
    ['broken', 1, 'detail of internal'],
    ['strange', 6, 'hint: is that the address of an installation?'],
  ])('that answers %s: exit code %i', async (lineage, expected, said) => {
    const { code, stdout, stderr } = await commandLine(['tree', lineage, '--url', url]);
    expect([code, stdout, stderr]).toEqual([expected, '', expect.stringContaining(said)]);
    expect(stderr).not.toContain('    at ');
  });

  test('is asked for events of a type that this build does not know, with a note', async () => {
    const { code, stdout, stderr } = await commandLine(['events', 'known', '--type', 'node_redy', '--url', url]);
    expect([code, stdout, stderr]).toEqual([0, '', 'fixpoint: this build knows no event type node_redy\n']);
    expect(seen.at(-1)).toContain('type=node_redy');
    expect((await commandLine(['events', 'known', '--type', 'node_ready', '--url', url])).stderr).toBe('');
  });

  test('is found through the environment, with its key', async () => {
    await commandLine(['tree', 'x1'], { env: { FIXPOINT_AUDIT_URL: url, FIXPOINT_API_KEY: 'secret' } });
    expect(seen.at(-1)).toBe('Bearer secret /v1/audit/lineages/x1');
  });

  test('is found in the data folder of a folder above', async () => {
    const home = mkdtempSync(join(tmpdir(), 'fixpoint-cli-'));
    const { mkdir, writeFile } = await import('node:fs/promises');
    await mkdir(join(home, '.fixpoint'));
    await mkdir(join(home, 'a/b'), { recursive: true });
    await writeFile(
      join(home, '.fixpoint/installation.json'),
      JSON.stringify({ write_url: 'http://x', audit_url: url }),
    );
    await commandLine(['tree', 'x2'], { cwd: join(home, 'a/b') });
    rmSync(home, { recursive: true });
    expect(seen.at(-1)).toBe(' /v1/audit/lineages/x2');
  });

  test('that is not there: exit code 6 and how to start one', async () => {
    const gone = await commandLine(['tree', 'x', '--url', 'http://127.0.0.1:1']);
    expect([gone.code, gone.stderr]).toEqual([6, expect.stringContaining('`fixpoint up` starts')]);
    const none = await commandLine(['tree', 'x'], { cwd: folder });
    expect([none.code, none.stderr]).toEqual([6, expect.stringContaining('`fixpoint up` starts one')]);
  });

  test('an error shows where it came from only when asked', async () => {
    const { stderr } = await commandLine(['tree', 'x', '--url', url], { env: { FIXPOINT_DEBUG: '1' } });
    expect(stderr).toContain('    at ');
  });
});
