import type { ReportCheck } from '@fixpoint/contracts/documents/protocol';
import { z } from 'zod';
import { lineOf, type Objection, type ReportReading, unreadable } from './report-reading.ts';

const levels = ['none', 'note', 'warning', 'error'] as const;
type Level = (typeof levels)[number];
const level = z.enum(levels);

const place = z.object({ uri: z.string().optional(), index: z.int().optional() });
const rule = z.object({ id: z.string(), defaultConfiguration: z.object({ level: level.optional() }).optional() });
const component = z.object({ name: z.string(), rules: z.array(rule).optional() });

const result = z.object({
  ruleId: z.string().optional(),
  ruleIndex: z.int().optional(),
  rule: z
    .object({
      id: z.string().optional(),
      index: z.int().optional(),
      toolComponent: z.object({ index: z.int().optional() }).optional(),
    })
    .optional(),
  kind: z.string().optional(),
  level: level.optional(),
  message: z.object({ text: z.string().optional(), markdown: z.string().optional(), id: z.string().optional() }),
  locations: z
    .array(
      z.object({
        physicalLocation: z
          .object({
            artifactLocation: place.optional(),
            region: z.object({ startLine: z.number().optional() }).optional(),
          })
          .optional(),
      }),
    )
    .optional(),
  suppressions: z.array(z.object({ status: z.string().optional() })).optional(),
  baselineState: z.string().optional(),
});
type Result = z.infer<typeof result>;

const run = z.object({
  tool: z.object({ driver: component, extensions: z.array(component).optional() }),
  /** Absent or null says that nothing was looked for, or that the results are in another file. */
  results: z.array(result),
  artifacts: z.array(z.object({ location: place.optional() })).optional(),
  invocations: z.array(z.object({ executionSuccessful: z.boolean() })).optional(),
});
type Run = z.infer<typeof run>;

const log = z.object({ version: z.literal('2.1.0'), runs: z.array(run).min(1) });

/**
 * Reads SARIF 2.1.0 (OASIS). A result counts from the level that the validator names; suppressed ones and those that are
 * gone since a baseline do not.
 */
export const readSarif = (text: string, lowest: NonNullable<ReportCheck['level']>): ReportReading => {
  const said = log.safeParse(jsonOf(text));
  if (!said.success) return unreadable(`not SARIF 2.1.0: ${problemIn(said.error)}`);
  const { runs } = said.data;
  const found = runs.flatMap((each) => each.results.filter(isThere).map((one) => ({ each, one })));
  const counting = found.filter(({ each, one }) => levels.indexOf(levelOf(one, each)) >= levels.indexOf(lowest));
  const broken = runs.some(({ invocations = [] }) => invocations.some(({ executionSuccessful: well }) => !well));
  if (broken && counting.length === 0) return unreadable('the tool says that it could not do its work');
  const objections = counting.map(({ each, one }) => objectionOf(one, each));
  return { outcome: 'read', objections, uncounted: found.length - counting.length, looked: `${found.length} results` };
};

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    return undefined;
  }
};

const problemIn = ({ issues: [issue] }: z.ZodError): string =>
  issue === undefined || issue.path.length === 0 ? 'no such JSON' : `${issue.path.join('.')}: ${issue.message}`;

const isThere = ({ suppressions = [], baselineState }: Result): boolean => {
  const isSuppressed =
    suppressions.length > 0 && suppressions.every(({ status = 'accepted' }) => status === 'accepted');
  return !isSuppressed && baselineState !== 'absent';
};

/** SARIF 2.1.0 §3.27.10: what is no failure has no level; the rule's own level comes before the general one. */
const levelOf = (one: Result, each: Run): Level => {
  if (one.level !== undefined) return one.level;
  if ((one.kind ?? 'fail') !== 'fail') return 'none';
  return ruleOf(one, each)?.defaultConfiguration?.level ?? 'warning';
};

const ruleOf = (one: Result, { tool }: Run) => {
  const { index: extension } = one.rule?.toolComponent ?? {};
  const rules = (extension === undefined ? tool.driver : tool.extensions?.[extension])?.rules ?? [];
  const id = one.ruleId ?? one.rule?.id;
  // An id may be a more specific one than its rule's: `rule/sub`.
  return rules[one.ruleIndex ?? one.rule?.index ?? -1] ?? rules.find((known) => known.id === id);
};

const objectionOf = (one: Result, each: Run): Objection => {
  const { artifactLocation, region } = one.locations?.[0]?.physicalLocation ?? {};
  const { text, markdown, id } = one.message;
  return {
    rule: one.ruleId ?? one.rule?.id ?? ruleOf(one, each)?.id ?? each.tool.driver.name,
    path: pathOf(artifactLocation?.uri ?? each.artifacts?.[artifactLocation?.index ?? -1]?.location?.uri),
    line: lineOf(region?.startLine),
    criterion: null,
    message: text ?? markdown ?? id ?? '',
  };
};

/** A reference as a path; one that names no file stays as it is. */
const pathOf = (uri: string | undefined): string | null => {
  if (uri === undefined || uri === '') return null;
  try {
    return decodeURIComponent(uri.replace(/^file:\/\/[^/]*(?=\/)/, ''));
  } catch {
    return uri;
  }
};
