/** A file of the repository, path relative to its root. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** A house rule that no linter has: what it says of a tree, one sentence per problem; empty when all is well. */
export interface TidyRule {
  readonly name: string;
  readonly problems: (files: readonly SourceFile[]) => string[];
}

/** The text without comments and without the insides of quotes, so that prose never counts as code. */
export const codeOnly = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\/|(?<!:)\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g, (match) =>
    match.startsWith('/') ? match.replaceAll(/[^\n]/g, ' ') : `${match[0]}${match[0]}`,
  );

const isTypeScript = (file: SourceFile): boolean => file.path.endsWith('.ts');
const isTest = (file: SourceFile): boolean => /\.(spec|contract|fixture)\.ts$|(^|\/)test\//.test(file.path);
const isPure = (file: SourceFile): boolean => /^services\/[^/]+\/src\/(domain|reactions)\//.test(file.path);
const dirname = (path: string): string => path.slice(0, path.lastIndexOf('/'));
const basename = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** A rule over the code of single files: every match of the pattern is a problem. */
const forbidden = (
  name: string,
  { pattern, instead }: { readonly pattern: RegExp; readonly instead: string },
  applies: (file: SourceFile) => boolean,
): TidyRule => ({
  name,
  problems: (files) =>
    files
      .filter((file) => isTypeScript(file) && applies(file))
      .flatMap((file) =>
        [...codeOnly(file.text).matchAll(pattern)].map((match) => {
          const line = file.text.slice(0, match.index).split('\n').length;
          return `${file.path}:${line}: ${match[0].trim()}: ${instead}`;
        }),
      ),
});

const DECLARED = /^\s*(?:export )?(?:const|let|(?:async )?function|class|interface|type|enum)\s+/.source;

const bannedFolders: TidyRule = {
  name: 'folders are named for a concept',
  problems: (files) =>
    files
      .filter((file) => /(^|\/)(utils?|helpers?|common|shared|misc)\//.test(file.path))
      .map((file) => `${file.path}: name the folder for its concept; what is used once is private to its user`),
};

const bannedFiles: TidyRule = {
  name: 'files are named for their main export',
  problems: (files) =>
    files
      .filter(isTypeScript)
      .filter(
        (file) =>
          !/^\.?[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*\.ts$/.test(basename(file.path)) ||
          basename(file.path) === 'index.ts',
      )
      .map((file) => `${file.path}: kebab-case of the main export, never index.ts`),
};

/** Files of the same folder that a file imports, by path. */
const neighboursOf = (file: SourceFile): string[] =>
  [...file.text.matchAll(/from '\.\/([^'/]+\.ts)'/g)].map(([, name]) => `${dirname(file.path)}/${name}`);

/** Everything that specs of a folder reach without leaving it. */
const reachedBySpecs = (files: readonly SourceFile[]): ReadonlySet<string> => {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const reached = new Set<string>();
  const open = files.filter((file) => file.path.endsWith('.spec.ts')).flatMap(neighboursOf);
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const file = byPath.get(path);
    if (file === undefined || reached.has(path)) continue;
    reached.add(path);
    open.push(...neighboursOf(file));
  }
  return reached;
};

/** A spec lies beside the file, or one of its folder imports it or what imports it: a decider's parts go by the decider. */
const decidersHaveSpecs: TidyRule = {
  name: 'every pure file has a spec in its folder',
  problems: (files) => {
    const reached = reachedBySpecs(files);
    const paths = new Set(files.map(({ path }) => path));
    const isTested = ({ path }: SourceFile): boolean =>
      reached.has(path) || paths.has(path.replace(/\.ts$/, '.spec.ts'));
    return files
      .filter((file) => isPure(file) && !isTest(file) && /\b(const|function|class)\s/.test(codeOnly(file.text)))
      .filter((file) => !isTested(file))
      .map((file) => `${file.path}: no spec of its folder reaches it; a decision without a spec is a guess`);
  },
};

const ADAPTER = /^(?<folder>libs\/[^/]+\/src\/(?:.*\/)?)(?:memory|postgres|jetstream|s3|folder)-(?<port>[a-z-]+)\.ts$/;

/** A port is a file with a memory adapter or a contract suite; other prefixed names are just names. */
const isPort = (files: ReadonlyMap<string, SourceFile>, { folder, port }: { folder: string; port: string }): boolean =>
  files.has(`${folder}${port}.ts`) &&
  (files.has(`${folder}memory-${port}.ts`) || files.has(`${folder}${port}.contract.ts`));

const adaptersPassContracts: TidyRule = {
  name: 'every adapter passes the contract of its port',
  problems: (files) => {
    const byPath = new Map(files.map((file) => [file.path, file]));
    return files.flatMap(({ path }) => {
      const { folder = '', port = '' } = ADAPTER.exec(path)?.groups ?? {};
      if (!isPort(byPath, { folder, port })) return [];
      const contract = `${folder}${port}.contract.ts`;
      if (!byPath.has(contract)) return [`${contract}: missing; a port is its contract suite`];
      const specs = [path.replace(/\.ts$/, '.spec.ts'), path.replace(/\.ts$/, '.int.spec.ts')];
      const calls = specs.some((spec) => byPath.get(spec)?.text.includes(`${port}.contract.ts`));
      return calls ? [] : [`${path}: no spec of it runs ${port}.contract.ts`];
    });
  },
};

const migrationsAreNumbered: TidyRule = {
  name: 'migrations are numbered without gaps and have a dumped schema',
  problems: (files) => {
    const folders = Map.groupBy(
      files.filter((file) => /\/migrations\/[^/]+$/.test(file.path)),
      (file) => file.path.slice(0, file.path.lastIndexOf('/')),
    );
    return [...folders].flatMap(([folder, members]) => {
      const names = members.map((file) => basename(file.path)).sort();
      const misnamed = names.filter(
        (name, index) => !new RegExp(`^${String(index + 1).padStart(4, '0')}_[a-z0-9_]+\\.sql$`).test(name),
      );
      const schema = folder.replace(/migrations$/, 'schema.sql');
      return [
        ...misnamed.map((name) => `${folder}/${name}: expected NNNN_what_it_does.sql, counted from 0001 without a gap`),
        ...(files.some((file) => file.path === schema)
          ? []
          : [`${schema}: missing; check in the dump after all migrations`]),
      ];
    });
  },
};

const packagesStayApart: TidyRule = {
  name: 'a relative import stays in its package',
  problems: (files) =>
    files.filter(isTypeScript).flatMap((file) => {
      const inside = /^((?:libs|services|deploy)\/[^/]+|cli|bench|examples)\//.exec(file.path)?.[1];
      if (inside === undefined) return [];
      const depth = file.path.slice(inside.length + 1).split('/').length - 1;
      return [...file.text.matchAll(/\bfrom '((?:\.\.\/)+)/g)]
        .filter((match) => (match[1]?.length ?? 0) / 3 > depth)
        .map(() => `${file.path}: import other packages by name (@fixpoint/…)`);
    }),
};

/** Versions that are or were released: the one that package.json names, and those that have a heading in the changelog. */
const releasesIn = (files: readonly SourceFile[]): readonly string[] => {
  const textOf = (path: string): string => files.find((file) => file.path === path)?.text ?? '';
  const current = /"version": ?"([^"]+)"/.exec(textOf('package.json'))?.[1];
  const earlier = [...textOf('CHANGELOG.md').matchAll(/^## \[?(\d+\.\d+\.\d+)/gm)].flatMap(
    ([, version]) => version ?? [],
  );
  return [...new Set([...(current === undefined ? [] : [current]), ...earlier])];
};

const releasesHaveGoldenLogs: TidyRule = {
  name: 'every release has its golden log',
  problems: (files) => {
    const paths = new Set(files.map(({ path }) => path));
    return releasesIn(files)
      .flatMap((version) => [`test/golden/${version}.jsonl`, `test/golden/${version}.folded.json`])
      .filter((path) => !paths.has(path))
      .map((path) => `${path}: missing; \`npm run golden\` records what this release stores and makes of it`);
  },
};

/** Rules about names, folders and words in the code. */
export const tidyRules: readonly TidyRule[] = [
  bannedFolders,
  bannedFiles,
  decidersHaveSpecs,
  adaptersPassContracts,
  migrationsAreNumbered,
  packagesStayApart,
  releasesHaveGoldenLogs,
  forbidden(
    'names say what a thing is',
    {
      pattern: new RegExp(
        `${DECLARED}(?:\\w*(?:Manager|Helpers?|Utils?|Common|Impl)\\b|Base[A-Z]\\w*|I[A-Z][a-z]\\w*)(?=\\s*(?:[=<({:]|extends|implements))`,
        'gm',
      ),
      instead: 'name the concept',
    },
    () => true,
  ),
  forbidden(
    'decisions read no clock and draw no chance',
    {
      pattern:
        /\bnew Date\(\s*\)|\bDate\.now\b|\bMath\.random\b|\brandomUUID\b|\brandomBytes\b|\bperformance\.now\b|\bset(Timeout|Interval|Immediate)\b/g,
      instead: 'take it from the command',
    },
    (file) => isPure(file) && !isTest(file),
  ),
  forbidden(
    'decisions do not wait',
    { pattern: /\basync\b|\bawait\b|\bPromise\b/g, instead: 'decide and react return values' },
    (file) => isPure(file) && !isTest(file),
  ),
  forbidden(
    'decorators map routes and nothing else',
    { pattern: /^\s*@[A-Z]\w*\(/gm, instead: 'use a factory provider in the module' },
    (file) => !/\/src\/http\/|\.fixture\.ts$/.test(file.path) && !file.path.startsWith('libs/runtime/'),
  ),
  forbidden(
    'rules are not switched off in place',
    { pattern: /\bjest\.(mock|unstable_mockModule)\b/g, instead: 'use a memory adapter' },
    () => true,
  ),
];
