import { protocolSpecSchema } from '@fixpoint/contracts/documents/protocol';
import { describe, expect, test } from '@jest/globals';
import { builtInMode, builtInProtocol } from './built-in-protocol.ts';
import { parseProtocol } from './parse-protocol.ts';

const HEAD = 'kind: protocol/v1\nname: strict\nproject: web-shop\n';
const parse = (modes: string): ReturnType<typeof parseProtocol> =>
  parseProtocol(`${HEAD}modes:\n${modes}`, {
    knownPrimitives: { names: ['file-write'], problems: () => [] },
    deniedBy: () => null,
  });
const codes = (modes: string): string[] =>
  parse(modes).diagnostics.map(({ code, line, column }) => `${code} ${line}:${column}`);

describe('a protocol document', () => {
  test('a mode that says nothing is the built-in one', () => {
    expect(parse('  build: {}\n').spec).toEqual({ ...builtInProtocol, name: 'strict', project: 'web-shop' });
  });

  test('validators have their defaults, and a command judges the whole task', () => {
    const post = '[{ id: lint, check: { command: npm run lint } }, { id: shape, check: { cel: output.n == 1 } }]';
    expect(parse(`  build: { post: ${post} }\n`).spec?.modes.build?.post).toEqual([
      {
        id: 'lint',
        check: { command: 'npm run lint' },
        severity: 'blocker',
        overridable: false,
        severity_cap: null,
        fix: null,
        timeout_ms: 60_000,
        on: 'task',
      },
      {
        id: 'shape',
        check: { cel: 'output.n == 1' },
        severity: 'blocker',
        overridable: false,
        severity_cap: null,
        fix: null,
        timeout_ms: 60_000,
        on: 'node',
      },
    ]);
  });

  test('bounds and back-offs that are named replace the default, the others stay', () => {
    const mode = parse('  build: { bounds: { execute: 1, deadline: 2h }, backoffs: { network: [500ms, 2s] } }\n').spec
      ?.modes.build;
    expect(mode?.bounds).toEqual({ ...builtInMode.bounds, execute: 1, deadline_ms: 7_200_000 });
    expect(mode?.backoffs).toEqual({ ...builtInMode.backoffs, network: [500, 2000] });
  });

  test('has the caps of single classes beside those that are built in, unless it bounds faults as such', () => {
    const capsOf = (bounds: string) => parse(`  build: { bounds: ${bounds} }\n`).spec?.modes.build?.bounds.fault_caps;
    expect(capsOf('{ fault_caps: { network: 1 } }')).toEqual({ ...builtInMode.bounds.fault_caps, network: 1 });
    expect(capsOf('{ faults: 2 }')).toEqual({});
    expect(capsOf('{ faults: 2, fault_caps: { disk: 9 } }')).toEqual({ disk: 9 });
  });

  test('what is parsed, and what is built in, is what events may carry', () => {
    const { spec } = parse('  build: { command_rules: [{ id: net, deny: network }] }\n  dry: {}\n');
    expect(protocolSpecSchema.parse(spec)).toEqual(spec);
    expect(protocolSpecSchema.parse(builtInProtocol)).toEqual(builtInProtocol);
  });

  test('the built-in bounds are those of the design', () => {
    expect(builtInMode.bounds).toEqual({
      max_recovery_depth: 3,
      max_total_fix_attempts: 10,
      iterations: 50,
      execute: 3,
      judge: 2,
      indeterminate: 3,
      max_decomposition_depth: 2,
      max_total_decomposition_children: 8,
      faults: 5,
      fault_caps: { provider_auth: 0, rate_limit: 4, network: 6, disk: 3, internal: 3, run_timeout: 2, shutdown: 20 },
      deadline_ms: 86_400_000,
      auto_agent_max_attempts: 3,
      integrate: 3,
      max_recompose_attempts: 5,
      regates: 24,
      max_money_micros: 50_000_000,
      max_tokens: 20_000_000,
      run_money_micros: 1_000_000,
      run_tokens: 500_000,
    });
  });
});

describe('what is wrong is said with its line and column', () => {
  test.each([
    ['no pre-validators', '  build: { pre: [] }\n', ['FX201 5:17']],
    [
      'an id twice',
      '  build:\n    command_rules:\n      - { id: secrets, deny: network }\n    post:\n      - { id: secrets, check: { secret_scan: {} } }\n',
      ['FX202 7:15'],
    ],
    ['a rule that is no CEL', '  build: { command_rules: [{ id: net, deny: netwrk }] }\n', ['FX203 5:45']],
    ['a governance rule that is no CEL', '  build: { governance_rules: [{ id: net, deny: task. }] }\n', ['FX203 5:48']],
    ['a check that comes too early', '  build: { pre: [{ id: x, check: { secret_scan: {} } }] }\n', ['FX204 5:34']],
    ['a check that comes too late', '  build: { post: [{ id: x, check: { command_rules: {} } }] }\n', ['FX204 5:35']],
    ['S-T71 a validator without a check', '  build: { post: [{ id: x }] }\n', ['FX012 5:19']],
    ['a bad CEL check', '  build: { post: [{ id: x, check: { cel: 1 + } }] }\n', ['FX115 5:42']],
    ['a bad schema check', '  build: { post: [{ id: x, check: { json_schema: { type: 1 } } }] }\n', ['FX116 5:50']],
    ['an unknown key', '  build: { postt: [] }\n', ['FX011 5:12']],
    [
      'a level of a report without levels',
      '  build: { post: [{ id: x, check: { report: { format: tap, command: y, level: note } } }] }\n',
      ['FX211 5:79'],
    ],
    [
      'a report outside of the home folder',
      '  build: { pre: [{ id: x, check: { report: { format: sarif, command: y, file: ../r } } }] }\n',
      ['FX211 5:79'],
    ],
    [
      'a report of nothing',
      '  build: { post: [{ id: x, check: { report: { format: junit, command: " " } } }] }\n',
      ['FX113 5:71'],
    ],
    ['a check of a later version', '  build: { post: [{ id: x, check: { model: {} } }] }\n', ['FX190 5:37']],
    ['an unknown validator', '  build: { post: [{ id: x, check: { secret_scn: {} } }] }\n', ['FX207 5:37']],
    [
      'an unknown key of a known one',
      '  build: { post: [{ id: x, check: { secret_scan: { all: 1 } } }] }\n',
      ['FX011 5:52'],
    ],
    ['a bad back-off', '  build: { backoffs: { network: [5] } }\n', ['FX014 5:34']],
    ['a bad deadline', '  build: { bounds: { deadline: soon } }\n', ['FX014 5:32']],
    ['a consensus that there is not', '  build: { consensus: most }\n', ['FX013 5:23']],
    ['a bound below zero', '  build: { bounds: { execute: 0 } }\n', ['FX013 5:31']],
    [
      'an unknown primitive as a fix',
      '  build: { post: [{ id: x, overridable: true, check: { command: y }, fix: { primitive: z } }] }\n',
      ['FX109 5:88'],
    ],
  ])('%s', (_, modes, expected) => {
    expect(codes(modes)).toEqual(expected);
    expect(parse(modes).spec).toBeNull();
  });

  test('a task is not a protocol', () => {
    expect(
      parseProtocol('kind: task/v1\nname: t\n', {
        knownPrimitives: { names: [], problems: () => [] },
        deniedBy: () => null,
      }).diagnostics,
    ).toMatchObject([{ code: 'FX010', line: 1, column: 7 }]);
  });

  test('the name of the built-in protocol can not be taken', () => {
    const text = 'kind: protocol/v1\nname: default\nproject: x\nmodes: { build: {} }\n';
    expect(
      parseProtocol(text, { knownPrimitives: { names: [], problems: () => [] }, deniedBy: () => null }).diagnostics,
    ).toMatchObject([{ code: 'FX015', line: 2 }]);
  });
});

describe('validators that can never object are warned about', () => {
  test.each([
    ['S-T71 a command that always ends with 0', 'post', 'command: "true"', ['FX208 5:46']],
    ['S-T71 such a command before the run', 'pre', 'command: "exit 0 # checked"', ['FX208 5:45']],
    ['S-T71 an expression that is always true', 'post', 'cel: 1 == 1', ['FX208 5:42']],
    ['S-T71 a schema that accepts everything', 'post', 'json_schema: {}', ['FX208 5:50']],
    ['not one that always objects', 'post', 'cel: "false"', []],
    ['not one that looks at something', 'post', 'command: test -f x', []],
  ])('%s', (_, list, check, expected) => {
    const mode = `  build: { ${list}: [{ id: x, check: { ${check} } }] }\n`;
    expect(codes(mode)).toEqual(expected);
    expect(parse(mode).spec).not.toBeNull();
  });
});

describe('fixes that can not do what they are for are warned about', () => {
  test.each([
    ['a fix of a blocker that halts', 'fix: { command: z }', ['FX205']],
    ['a fix of a warning that is not recovered', 'severity: warning, fix: { command: z }', ['FX205']],
    ['recovery without a fix', 'overridable: true', ['FX206']],
    ['a fix that is used', 'overridable: true, fix: { command: z }', []],
    ['a fix of what a cap makes a pass', 'overridable: true, severity_cap: pass, fix: { command: z }', ['FX205']],
    ['a fix of what a cap makes a warning', 'overridable: true, severity_cap: warning, fix: { command: z }', ['FX205']],
  ])('%s', (_, rest, expected) => {
    const { spec, diagnostics } = parse(`  build: { post: [{ id: x, check: { command: y }, ${rest} }] }\n`);
    expect(diagnostics.map(({ code }) => code)).toEqual(expected);
    expect(spec).not.toBeNull();
  });

  test.each([
    ['an overridable blocker', 'overridable: true', 'An overridable blocker without a fix'],
    ['a warning', 'severity: warning', 'A warning that recover_on names without a fix'],
    [
      'a blocker that a cap makes a warning',
      'overridable: true, severity_cap: warning',
      'A warning that recover_on names',
    ],
  ])('recovery of %s without a fix is called what it is', (_name, rest, message) => {
    const mode = `{ recover_on: [blocker, warning], post: [{ id: x, check: { command: y }, ${rest} }] }`;
    expect(parse(`  build: ${mode}\n`).diagnostics).toMatchObject([
      { code: 'FX206', message: expect.stringContaining(message) },
    ]);
  });

  test.each([
    ['its recipe', 'mend', 'fix'],
    ['its own command, which is the check of the fix', 'look', 'check'],
  ])('a command rule that denies %s is an error: the fix could never be good', (_name, denied, place) => {
    const mode = '{ command_rules: [{ id: r, deny: "false", message: no }], post: [{ id: x, check: { command: look },';
    const text = `${HEAD}modes: { build: ${mode} overridable: true, fix: { command: mend } }] } }\n`;
    const deniedBy = (_rules: unknown, command: object) => (JSON.stringify(command).includes(denied) ? 'r' : null);
    const { spec, diagnostics } = parseProtocol(text, { knownPrimitives: { names: [], problems: () => [] }, deniedBy });
    expect(spec).toBeNull();
    expect(diagnostics).toMatchObject([{ code: 'FX209', message: 'The command rule `r` denies this command.' }]);
    expect(diagnostics[0]?.column).toBe((text.split('\n')[3]?.indexOf(`${place}: `) ?? 0) + place.length + 3);
  });

  const WARNING = '{ id: w, check: { secret_scan: {} }, severity: warning, fix: { command: z } }';
  const BLOCKER = '{ id: b, check: { cel: exit_code == 0 }, overridable: true, fix: { command: z } }';
  const FINAL = '{ id: f, check: { cel: exit_code == 0 } }';
  test.each([
    ['unanimous', [WARNING], []],
    ['majority', [WARNING], []],
    ['quorum', [WARNING], []],
    ['any', [WARNING], ['FX205']],
    ['any', [WARNING, BLOCKER], []],
    ['majority', [WARNING, FINAL], ['FX205']],
    ['quorum', [WARNING, FINAL], ['FX205']],
    ['unanimous', [WARNING, FINAL], []],
  ])('under %s the warnings of %j', (consensus, post, expected) => {
    const mode = `{ consensus: ${consensus}, recover_on: [blocker, warning], post: [${post.join(', ')}] }`;
    expect(parse(`  build: ${mode}\n`).diagnostics.map(({ code }) => code)).toEqual(expected);
  });
});
