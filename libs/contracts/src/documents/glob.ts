/** More wildcards than anybody needs are not tried: what they could match takes too long to find out. */
const MOST_WILDCARDS = 6;

/** The part of a glob before its first wildcard. */
const baseOf = (glob: string): string => glob.split(/[*?[]/, 1)[0] ?? '';

/** Whether a path is meant by a glob: `*` and `?` within a part, `**` over parts; a folder means all that is in it. */
export const covers = (glob: string, path: string): boolean => {
  if (glob === path || path.startsWith(`${glob.replace(/\/+$/, '')}/`)) return true;
  if ((glob.match(/[*?]/g) ?? []).length > MOST_WILDCARDS) return path.startsWith(baseOf(glob));
  return new RegExp(`^${glob.split('**').map(withinPart).join('.*')}$`, 's').test(path);
};

const withinPart = (text: string): string =>
  text
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '[^/]*')
    .replaceAll('?', '[^/]');

/** Whether two globs may mean the same file: told by their fixed beginnings, so in doubt no. */
export const overlap = (one: string, other: string): boolean =>
  one === other || covers(one, baseOf(other) || other) || covers(other, baseOf(one) || one);
