import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { diagnostic, diagnosticCatalogue } from './diagnostics.ts';
import { type SarifInput, sarifLog } from './sarif.ts';

/** The part of the format that is used, with what its schema asks of it: no other keys, no lines below 1, no scheme by accident. */
const message = z.strictObject({ text: z.string().min(1) });
const level = z.enum(['none', 'note', 'warning', 'error']);
const uri = z
  .string()
  .regex(/^(?:[a-z][a-z0-9+.-]*:)?(?:[A-Za-z0-9\-._~!$&'()*+,;=@/]|%[0-9A-F]{2})+$/)
  .refine((text) => URL.canParse(text, 'file:///base/'));
const location = z.strictObject({
  physicalLocation: z.strictObject({
    artifactLocation: z.strictObject({ uri, index: z.int().min(0) }),
    region: z.strictObject({ startLine: z.int().min(1), startColumn: z.int().min(1) }).optional(),
  }),
});
const isUnique = (items: readonly unknown[]): boolean =>
  new Set(items.map((item) => JSON.stringify(item))).size === items.length;
const rule = z.strictObject({
  id: z.string(),
  shortDescription: message,
  help: message,
  defaultConfiguration: z.strictObject({ level }),
});
const run = z.strictObject({
  tool: z.strictObject({
    driver: z.strictObject({ name: z.string(), version: z.string(), rules: z.array(rule).refine(isUnique) }),
  }),
  columnKind: z.enum(['utf16CodeUnits', 'unicodeCodePoints']),
  invocations: z.array(
    z.strictObject({
      executionSuccessful: z.boolean(),
      toolExecutionNotifications: z.array(z.strictObject({ level, message, locations: z.array(location) })),
    }),
  ),
  artifacts: z
    .array(z.strictObject({ location: z.strictObject({ uri }), properties: z.record(z.string(), z.unknown()) }))
    .refine(isUnique),
  results: z.array(
    z.strictObject({ ruleId: z.string(), ruleIndex: z.int().min(0), level, message, locations: z.array(location) }),
  ),
});
const sarif = z.strictObject({
  $schema: z.url(),
  version: z.literal('2.1.0'),
  runs: z.array(run).length(1),
});

const file = (name: string, more: Partial<SarifInput> = {}): SarifInput => ({
  file: name,
  diagnostics: [],
  unreadable: null,
  properties: {},
  ...more,
});
const bad = [
  diagnostic('FX103', { line: 4, column: 9 }),
  diagnostic('FX106', { line: 1, column: 1 }, { message: 'Never used.', hint: 'Remove them.' }),
];
const runOf = (files: readonly SarifInput[]): z.infer<typeof run> => {
  const log = sarif.parse(JSON.parse(JSON.stringify(sarifLog(files, { version: '1.2.3' }))));
  return run.parse(log.runs[0]);
};

describe('a SARIF log', () => {
  test('is one, whatever files are called', () => {
    const names = [
      'a.yaml',
      '-',
      '/tmp/ü b.yaml',
      './a#b?.yaml',
      'c:d.yaml',
      '100%.yaml',
      '\ud800.yaml',
      'a\\b',
      '../x',
    ];
    const uris = runOf(names.map((name) => file(name, { diagnostics: bad }))).artifacts.map(
      ({ location }) => location.uri,
    );
    expect(uris).toEqual([
      ...['a.yaml', 'stdin', 'file:///tmp/%C3%BC%20b.yaml', './a%23b%3F.yaml', 'c%3Ad.yaml', '100%25.yaml'],
      ...['%EF%BF%BD.yaml', 'a%5Cb', '../x'],
    ]);
  });

  test('has a rule for every code, with its hint, and each result points to its own', () => {
    const { tool, results } = runOf([file('a.yaml', { diagnostics: bad })]);
    expect(tool.driver.rules.map(({ id }) => id)).toEqual(Object.keys(diagnosticCatalogue));
    expect(tool.driver.rules.map(({ help }) => help.text)).toEqual(
      Object.values(diagnosticCatalogue).map(({ hint }) => hint),
    );
    expect(results.map(({ ruleIndex }) => tool.driver.rules[ruleIndex]?.id)).toEqual(['FX103', 'FX106']);
  });

  test('says where, how bad, and what to do', () => {
    const { results } = runOf([file('good.yaml'), file('a.yaml', { diagnostics: bad })]);
    expect(results[1]).toEqual({
      ruleId: 'FX106',
      ruleIndex: expect.any(Number),
      level: 'warning',
      message: { text: 'Never used.\nRemove them.' },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: 'a.yaml', index: 1 },
            region: { startLine: 1, startColumn: 1 },
          },
        },
      ],
    });
  });

  test('does not hide a file that could not be read', () => {
    const { invocations } = runOf([file('a.yaml'), file('b.yaml', { unreadable: "b.yaml can't be read" })]);
    expect(invocations).toMatchObject([
      {
        executionSuccessful: false,
        toolExecutionNotifications: [{ level: 'error', message: { text: "b.yaml can't be read" } }],
      },
    ]);
    expect(runOf([file('a.yaml', { diagnostics: bad })]).invocations[0]?.executionSuccessful).toBe(true);
  });

  test('has each file once', () => {
    const { artifacts, results } = runOf([file('a.yaml', { diagnostics: bad }), file('a.yaml', { diagnostics: bad })]);
    expect([artifacts.length, results.length]).toEqual([1, 2]);
  });
});
