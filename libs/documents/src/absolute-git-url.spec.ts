import { describe, expect, test } from '@jest/globals';
import { withAbsoluteGitUrl } from './absolute-git-url.ts';

const task = (url: string) =>
  `# why\nkind: task/v1\nworkspace:\n  git: { url: ${url}, ref: main }\nrecipe: { command: make }\n`;

describe('absolute git url', () => {
  test('resolves a relative one against the folder and leaves the rest alone', () => {
    const text = withAbsoluteGitUrl(task('./repo'), '/at');
    expect(text).toBe(task('"/at/repo"'));
  });
  test.each(["'./repo'", '"./repo"', 'repo', '../at/repo'])('understands it written as %s', (url) => {
    expect(withAbsoluteGitUrl(task(url), '/at')).toBe(task('"/at/repo"'));
  });
  test('works in JSON', () => {
    expect(withAbsoluteGitUrl('{"workspace":{"git":{"url":"./r","ref":"main"}}}', '/at')).toBe(
      '{"workspace":{"git":{"url":"/at/r","ref":"main"}}}',
    );
  });
  test.each(['/abs/repo', 'https://host/repo.git', 'git@host:repo.git'])('leaves %s as it is', (url) => {
    expect(withAbsoluteGitUrl(task(url), '/at')).toBe(task(url));
  });
  test.each(['', '- a list', 'a: [', 'kind: task/v1'])('leaves what is no such document as it is (%j)', (text) => {
    expect(withAbsoluteGitUrl(text, '/at')).toBe(text);
  });
});
