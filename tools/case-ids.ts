import type { SourceFile } from './tidy-rules.ts';

/** Ids of known cases: `S-T12`, `I-B05`, `X07`, `P03`, `N11`, `A4`, `INV1`. */
const ID = /\b(?:[SIHU]-[TB]\d{2,3}|[XP]\d{2}|[A-FN]\d{1,2}|INV\d)\b/g;

/** Titles of suites and tests. */
const TITLE =
  /\b(?:describe|test|it)(?:\.each\((?:[^()]|\([^()]*\))*\))?\(\s*(?:'((?:\\.|[^'\\\n])*)'|"((?:\\.|[^"\\\n])*)"|`([^`]*)`)/g;

/** Titles behind a table of any shape: `test.each<Row>([…])('…'`. */
const AFTER_TABLE = /\)\(\s*(?:'((?:\\.|[^'\\\n])*)'|"((?:\\.|[^"\\\n])*)"|`([^`]*)`)/g;

/** Rows of tables that begin with a text, which becomes a title. */
const ROW = /\[\s*(?:'((?:\\.|[^'\\\n])*)'|"((?:\\.|[^"\\\n])*)")/g;

const titlesOf = ({ text }: SourceFile): string[] =>
  [...text.matchAll(TITLE), ...text.matchAll(AFTER_TABLE), ...text.matchAll(ROW)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? '',
  );

/** The specs and contract suites that name each id in the title of a test, in order of their paths. */
export const specsOfIds = (files: readonly SourceFile[]): ReadonlyMap<string, readonly string[]> => {
  const specs = new Map<string, string[]>();
  for (const file of files.filter(({ path }) => /\.(spec|contract)\.ts$/.test(path)))
    for (const id of new Set(titlesOf(file).flatMap((title) => title.match(ID) ?? [])))
      specs.set(id, [...(specs.get(id) ?? []), file.path]);
  return specs;
};

/**
 * How a case is dealt with: a test shows it, it has no way to happen here, or the part of the product that it is about
 * is not built.
 */
type Standing = 'tested' | 'cannot occur' | 'not yet';

/** What a scenario page says of one id. */
export interface ExplainedCase {
  readonly id: string;
  readonly standing: Standing;
  readonly sentence: string;
}

const LINE = /^- (?<ids>(?:`[^`]+`(?:, )?)+)(?: \((?<standing>cannot occur|not yet)\))?: (?<sentence>\S.*)$/;

/**
 * Cases explained in the pages of the rooms: "- `S-T12`: what happens", "- `P12` (cannot occur): why", or
 * "- `S-T49` (not yet): what is missing". Several ids of one line are separated by commas.
 */
export const explainedCases = (pages: readonly SourceFile[]): readonly ExplainedCase[] =>
  pages
    .flatMap((page) => page.text.split('\n'))
    .flatMap((line) => {
      const { ids, standing, sentence } = LINE.exec(line)?.groups ?? {};
      if (ids === undefined || sentence === undefined) return [];
      return (ids.match(ID) ?? []).map((id) => ({ id, standing: (standing ?? 'tested') as Standing, sentence }));
    });

/** What is wrong between tests and pages, one sentence per problem. */
export const caseProblems = (files: readonly SourceFile[], pages: readonly SourceFile[]): string[] => {
  const specs = specsOfIds(files);
  const explained = explainedCases(pages);
  const known = new Set(explained.map(({ id }) => id));
  return [
    ...[...specs]
      .filter(([id]) => !known.has(id))
      .map(([id, [spec]]) => `${id}: ${spec} names it and no page of docs/scenarios.d explains it`),
    ...explained.flatMap(({ id, standing }) => {
      const spec = specs.get(id)?.[0];
      if (standing === 'tested' && spec === undefined)
        return [`${id}: docs/scenarios.d explains it and no test names it`];
      if (standing !== 'tested' && spec !== undefined)
        return [`${id}: ${standing}, says docs/scenarios.d, but ${spec} names it`];
      return [];
    }),
  ];
};

/** Those of the wanted ids that no test names and no page accounts for. */
export const openCases = (
  wanted: readonly string[],
  files: readonly SourceFile[],
  pages: readonly SourceFile[],
): readonly string[] => {
  const specs = specsOfIds(files);
  const excused = new Set(
    explainedCases(pages)
      .filter(({ standing }) => standing !== 'tested')
      .map(({ id }) => id),
  );
  return wanted.filter((id) => !specs.has(id) && !excused.has(id));
};
