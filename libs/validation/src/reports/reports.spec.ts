import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readJunit } from './junit-report.ts';
import { readSarif } from './sarif-report.ts';
import { readTap } from './tap-report.ts';

const at = (uri: string, startLine: number) => [
  { physicalLocation: { artifactLocation: { uri }, region: { startLine } } },
];

const sarif = (results: readonly object[] | null, more: object = {}): string => {
  const driver = { name: 'tool', rules: [{ id: 'quiet', defaultConfiguration: { level: 'note' } }] };
  return JSON.stringify({ version: '2.1.0', runs: [{ tool: { driver }, results, ...more }] });
};

describe('a SARIF report', () => {
  test('says rule, file and line of what counts', () => {
    const one = { ruleId: 'no-var', level: 'error', message: { text: 'use let' }, locations: at('src/a%20b.js', 3) };
    expect(readSarif(sarif([one]), 'warning')).toEqual({
      outcome: 'read',
      objections: [{ rule: 'no-var', path: 'src/a b.js', line: 3, criterion: null, message: 'use let' }],
      uncounted: 0,
      looked: '1 results',
    });
  });

  test.each<[string, object, readonly number[]]>([
    // Objections from note, warning and error on.
    ['has a level of its own', { level: 'error' }, [1, 1, 1]],
    ['is a warning when nothing says otherwise', {}, [1, 1, 0]],
    ['has the level of its rule, by index', { ruleIndex: 0 }, [1, 0, 0]],
    ['has the level of its rule, by id', { ruleId: 'quiet' }, [1, 0, 0]],
    ['is no failure', { kind: 'pass' }, [0, 0, 0]],
    ['is suppressed', { level: 'error', suppressions: [{ kind: 'inSource' }] }, [0, 0, 0]],
    ['is to be suppressed', { level: 'error', suppressions: [{ status: 'underReview' }] }, [1, 1, 1]],
    ['is gone since the baseline', { level: 'error', baselineState: 'absent' }, [0, 0, 0]],
  ])('counts a result that %s from its level on', (_, result, expected) => {
    const text = sarif([{ message: { text: 'm' }, ...result }]);
    const counted = (['note', 'warning', 'error'] as const).map((level) => {
      const reading = readSarif(text, level);
      return reading.outcome === 'read' ? reading.objections.length : reading.problem;
    });
    expect(counted).toEqual(expected);
  });

  test('names files by a table, and a URI as a path', () => {
    const artifacts = [{ location: { uri: 'file:///copy/src/a.js' } }];
    const locations = [{ physicalLocation: { artifactLocation: { index: 0 } } }];
    expect(readSarif(sarif([{ message: {}, locations }], { artifacts }), 'warning')).toMatchObject({
      objections: [{ rule: 'tool', path: '/copy/src/a.js', line: null }],
    });
  });

  const failedRun = { invocations: [{ executionSuccessful: false }] };
  test.each([
    ['no JSON', '{'],
    ['null', 'null'],
    ['another version', sarif([]).replace('2.1.0', '1.0.0')],
    ['no run', '{"version": "2.1.0", "runs": []}'],
    ['a run that looked for nothing', sarif(null)],
    ['a tool that failed and found nothing', sarif([], failedRun)],
    ['a level that there is not', sarif([{ message: {}, level: 'fatal' }])],
  ])('with %s is unreadable, and nothing counts as found', (_, text) => {
    expect(readSarif(text, 'warning')).toEqual({ outcome: 'unreadable', problem: expect.any(String) });
  });

  test('of a tool that failed after it had found something says that', () => {
    expect(readSarif(sarif([{ message: {} }], failedRun), 'warning')).toMatchObject({ objections: [{}] });
  });
});

describe('a JUnit report', () => {
  test('says what failed, and skips what was skipped', () => {
    const text = `<?xml version="1.0"?>
      <testsuites><testsuite name="s" tests="4">
        <testcase classname="a.B" name="x" file="src/b.py" line="7"><failure message="1 &lt; 0">trace</failure></testcase>
        <testcase name="y"><error><![CDATA[<!DOCTYPE html> & more]]></error></testcase>
        <testcase name="z"><skipped/></testcase>
        <testcase name="ok"><system-out>failure</system-out></testcase>
      </testsuite></testsuites>`;
    expect(readJunit(text)).toEqual({
      outcome: 'read',
      objections: [
        { rule: 'failure', path: 'src/b.py', line: 7, criterion: 'a.B x', message: '1 < 0\ntrace' },
        { rule: 'error', path: null, line: null, criterion: 'y', message: '<!DOCTYPE html> & more' },
      ],
      uncounted: 0,
      looked: '3 tests run, 1 skipped',
    });
  });

  test('of a suite that could not be set up, or only counts its failures, objects', () => {
    const setUp = '<testsuite name="s"><error message="no database"/></testsuite>';
    expect(readJunit(setUp)).toMatchObject({ objections: [{ criterion: 's', message: 'no database' }] });
    const counted = '<testsuite name="s" failures="2"><testcase name="x"/></testsuite>';
    expect(readJunit(counted)).toMatchObject({ objections: [{ criterion: 's' }] });
  });

  const laughs = Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join('');
  test.each([
    ['no XML', 'ok'],
    ['half of it', '<testsuite><testcase name="x"/>'],
    ['two roots', '<testsuite><testcase name="x"/></testsuite><testsuite/>'],
    ['another root', '<html><testcase name="x"/></html>'],
    ['no test', '<testsuites tests="0"/>'],
    ['skipped tests alone', '<testsuite><testcase name="x"><skipped/></testcase></testsuite>'],
    ['an attribute without quotes', '<testsuite><testcase name=x/></testsuite>'],
    ['an entity that nobody declared', '<testsuite><testcase name="&x;"/></testsuite>'],
    [
      'a file as an entity',
      '<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]><testsuite><testcase name="&x;"/></testsuite>',
    ],
    [
      'a document type of elsewhere',
      '<!DOCTYPE t SYSTEM "http://127.0.0.1:9/t.dtd"><testsuite><testcase name="x"/></testsuite>',
    ],
    ['entities of entities', `<!DOCTYPE t [<!ENTITY l0 "ha">${laughs}]><testsuite><testcase name="&l9;"/></testsuite>`],
  ])('with %s is unreadable', (_, text) => {
    expect(readJunit(text)).toEqual({ outcome: 'unreadable', problem: expect.any(String) });
  });

  test('may be nested deeper than a stack is', () => {
    const depth = 20_000;
    const text = `${'<testsuite>'.repeat(depth)}<testcase name="x"><failure/></testcase>${'</testsuite>'.repeat(depth)}`;
    expect(readJunit(text)).toMatchObject({ objections: [{ criterion: 'x' }] });
  });
});

describe('a TAP report', () => {
  test('says what is not ok, but for what is to do or skipped', () => {
    const text = [
      'TAP version 14',
      '1..5',
      'ok 1 - a',
      'not ok 2 - b',
      '  ---',
      '  message: boo',
      '  at: { file: src/b.js, line: 3 }',
      '  ...',
      'not ok 3 - c # TODO later',
      'ok 4 # SKIP no network',
      'not ok 5',
      '  ---',
      "  location: '/copy/src/c.js:9:1'",
      '  ...',
      '',
    ].join('\n');
    expect(readTap(text)).toEqual({
      outcome: 'read',
      objections: [
        { rule: 'not_ok', path: 'src/b.js', line: 3, criterion: 'b', message: 'boo' },
        { rule: 'not_ok', path: '/copy/src/c.js', line: 9, criterion: 'test 5', message: '' },
      ],
      uncounted: 1,
      looked: '4 tests run, 1 skipped',
    });
  });

  test('names the innermost test, unless the one around it is to do', () => {
    const inner = (point: string) =>
      `TAP version 14\n# Subtest: s\n    ok 1 - fine\n    not ok 2 - inner\n    1..2\n${point}\n1..1\n`;
    expect(readTap(inner('not ok 1 - s'))).toMatchObject({ objections: [{ criterion: 's > inner' }] });
    expect(readTap(inner('not ok 1 - s # TODO later'))).toMatchObject({ objections: [], uncounted: 1 });
  });

  test.each([
    ['nothing', '\n'],
    ['something else', 'all fine\n'],
    ['no plan', 'TAP version 14\nok 1\n'],
    ['a plan that is not kept', '1..2\nok 1\n'],
    ['a test more than planned', '1..1\nok 1\nok 2\n'],
    ['a number twice', '1..2\nok 1\nok 1\n'],
    ['no test', '1..0 # SKIP nothing here\n'],
    ['skipped tests alone', '1..1\nok 1 # SKIP\n'],
    ['a plan of a subtest that is not kept', '# Subtest: s\n    ok 1\n    1..2\nok 1 - s # TODO\n1..1\n'],
    ['a bail-out', '1..1\nok 1\nBail out! no database\n'],
  ])('with %s is unreadable', (_, text) => {
    expect(readTap(text)).toEqual({ outcome: 'unreadable', problem: expect.any(String) });
  });

  test('with a failure objects, whatever is missing behind it', () => {
    expect(readTap('1..3\nnot ok 1 - a\n')).toMatchObject({ objections: [{ criterion: 'a' }] });
  });
});

describe('a report with a failure that is cut anywhere, or has bytes of it replaced', () => {
  const results = Array.from({ length: 12 }, (_, n) => n + 1);
  const cases = results.map((n) => `<testcase name="t${n}">${n === 12 ? '<failure/>' : ''}</testcase>`).join('\n');
  const points = results.map((n) => `${n === 12 ? 'not ' : ''}ok ${n} - t`).join('\n');
  const formats = [
    [(text: string) => readSarif(text, 'note'), sarif([{ ruleId: 'r', message: { text: 'm' } }])],
    [readJunit, `<testsuite>${cases}</testsuite>`],
    [readTap, `1..12\n${points}\n`],
    [readTap, `TAP version 14\n${points}\n1..12\n`],
  ] as const;

  test('is never read as a clean one', () => {
    fc.assert(
      fc.property(fc.constantFrom(...formats), fc.nat(), ([read, text], place) => {
        const reading = read(text.slice(0, place % text.length));
        expect(reading.outcome === 'unreadable' || reading.objections.length > 0).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test('is read or is not, and never throws anything but its text being wrong', () => {
    fc.assert(
      fc.property(fc.constantFrom(...formats), fc.nat(), fc.string({ maxLength: 8 }), ([read, text], place, noise) => {
        const cut = place % text.length;
        const garbled = text.slice(0, cut) + noise + text.slice(cut + noise.length);
        expect(['read', 'unreadable']).toContain(read(garbled).outcome);
      }),
      { numRuns: 500 },
    );
  });
});
