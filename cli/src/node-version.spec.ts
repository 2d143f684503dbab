import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { complaintOfNode } from './node-version.ts';

describe('the release of Node that runs the command line', () => {
  test.each(['18.20.4', '20.20.2', '21.7.3'])('%s is too old, and it says which one is needed', (version) => {
    expect(complaintOfNode(version)).toMatch(new RegExp(`takes Node 24 .+ this is Node ${version}; .npx fixpoint`));
  });
  test.each(['22.1.0', '24.21.0', '26.0.0'])('%s will do', (version) => {
    expect(complaintOfNode(version)).toBeNull();
  });
});

describe('what npx starts', () => {
  const STUB = fileURLToPath(new URL('../bin/fixpoint.js', import.meta.url));
  const OLD = 'data:text/javascript,Object.defineProperty(process, "versions", { value: { node: "20.1.0" } });';
  let clone: string;
  const write = (path: string, text: string): void => {
    const file = join(clone, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, 0o755);
  };
  const built = (): void => write('cli/dist/main.js', 'console.log("in process", ...process.argv.slice(2));');
  const started = (flags: readonly string[] = []) => {
    const child = spawn(process.execPath, [...flags, join(clone, 'cli/bin/fixpoint.js'), 'a b', '--c'], { cwd: '/' });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (piece) => {
        said += piece;
      });
    const ended = once(child, 'close').then(([code]) => [code, said.trimEnd()]);
    return { child, ended };
  };

  beforeEach(() => {
    clone = mkdtempSync(join(tmpdir(), 'fixpoint-stub-'));
    write('cli/package.json', '{ "type": "module" }');
    mkdirSync(join(clone, 'cli/bin'));
    cpSync(STUB, join(clone, 'cli/bin/fixpoint.js'));
  });
  afterEach(() => rmSync(clone, { recursive: true, force: true }));

  test('says what to do before anything is built', async () => {
    expect(await started().ended).toEqual([
      1,
      `fixpoint: it is not built yet; \`npm run build\` in ${clone}/ builds it`,
    ]);
  });

  test('is the program itself where Node is new enough', async () => {
    built();
    expect(await started().ended).toEqual([0, 'in process a b --c']);
  });

  test('hands over to the Node of the clone where it is not, with its arguments and exit code', async () => {
    built();
    write('node_modules/node/package.json', '{ "name": "node", "version": "24.0.0" }');
    write('node_modules/node/bin/node', '#!/bin/sh\necho "handed over" "$2" "$3"\nexit 7\n');
    expect(await started(['--import', OLD]).ended).toEqual([7, 'handed over a b --c']);
  });

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'passes SIGTERM on and leaves Ctrl-C to what it started: %s',
    async (signal) => {
      built();
      write('node_modules/node/package.json', '{ "name": "node", "version": "24.0.0" }');
      const child = 'trap "echo told; exit 3" TERM; trap "echo no; exit 4" INT; echo up; read -r _; exit 5';
      write('node_modules/node/bin/node', `#!/bin/sh\n${child}\n`);
      const run = started(['--import', OLD]);
      await once(run.child.stdout, 'data');
      run.child.kill(signal);
      if (signal === 'SIGINT') run.child.stdin.end('\n');
      expect(await run.ended).toEqual(signal === 'SIGINT' ? [5, 'up'] : [3, 'up\ntold']);
    },
  );

  test('says which Node is missing when there is none to hand over to', async () => {
    built();
    expect(await started(['--import', OLD]).ended).toEqual([
      1,
      'fixpoint: this is Node 20.1.0, and it takes Node 24, which `npm ci` installs',
    ]);
  });
});
