/** A task that stalls, because what it runs does nothing, and is split into parts that each write one file. */
export interface SplitPlan {
  readonly files: readonly string[];
  /** Files that a part stands for in place of its own: it stalls in its turn. */
  readonly nested?: Readonly<Record<string, readonly string[]>>;
  /** Delivered to; left out, nothing is. */
  readonly branch?: string;
  /** Shell text that each part runs before it writes its file; `$FILE` is the name. */
  readonly before?: string;
}

/** @returns the document, as JSON. @param url of the source repository, absolute. */
export const splitTask = (url: string, { files, nested = {}, branch, before = ':' }: SplitPlan): string => {
  const writes = (file: string) => ({
    name: file,
    goal: `${file} is there`,
    paths: [file],
    env: { FILE: file },
    recipe: { language: 'sh', script: `${before}\necho "$FILE" > "$FILE"\n` },
    postcondition: { command: `test -s ${file}` },
  });
  const holds = (names: readonly string[]) => ({
    recipe: { command: 'ls' },
    postcondition: { command: names.map((name) => `test -s ${name}`).join(' && ') },
  });
  const part = (file: string) => {
    const inner = nested[file];
    if (inner === undefined) return writes(file);
    return { name: file, goal: `${file} is there`, paths: [...inner], ...holds(inner), parts: inner.map(writes) };
  };
  const all = files.flatMap((file) => nested[file] ?? [file]);
  return JSON.stringify({
    ...{ kind: 'task/v1', name: 'split', project: 'e2e', goal: 'All files are there' },
    workspace: { git: { url, ref: 'main' } },
    ...holds(all),
    parts: files.map(part),
    ...(branch === undefined ? {} : { deliver: { branch } }),
  });
};

/** A task that is split into parts that each append a line of their own to the file `log`. @param url as above. */
export const appendTask = (url: string, lines: readonly string[], branch: string): string => {
  const has = (line: string): string => `grep -qx ${line} log`;
  return JSON.stringify({
    ...{ kind: 'task/v1', name: 'append', project: 'e2e', goal: 'All lines are there' },
    workspace: { git: { url, ref: 'main' } },
    recipe: { command: 'ls' },
    postcondition: { command: lines.map(has).join(' && ') },
    parts: lines.map((line) => ({
      name: line,
      recipe: { command: `echo ${line} >> log` },
      postcondition: { command: has(line) },
    })),
    deliver: { branch },
  });
};
