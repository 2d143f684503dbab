import { statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { shippedRules } from './shipped-rules.fixture.ts';

const rules = shippedRules(process.env.PATH);

describe('a lock that a killed git left', () => {
  test.each(['index', 'HEAD'])('%s.lock is removed', async (lock) => {
    rules.write({ 'a.txt': 'a', [`.git/${lock}.lock`]: '' });
    expect(await rules.repair('git add -A && git commit -qm deps')).toBe('git-stale-lock');
    expect(rules.committed()).toEqual(['a.txt']);
  });

  test('of another repository stays', async () => {
    rules.sh('git init -q other');
    rules.write({ 'other/a.txt': 'a', 'other/.git/index.lock': '' });
    await rules.isLeftAlone('git -C other add -A');
    await rules.staysFailed('cd other && git add -A');
    expect(statSync(join(rules.folder(), 'other/.git/index.lock')).isFile()).toBe(true);
  });
});

describe('a branch that was never pushed', () => {
  beforeEach(() => {
    rules.commit({ 'a.txt': 'a' });
    rules.sh('git init -q --bare remote.git && git checkout -qb topic/x');
  });

  test('is pushed under its own name', async () => {
    rules.sh('git remote add origin ./remote.git');
    expect(await rules.repair('git -c push.default=simple push -q')).toBe('git-no-upstream');
    expect(rules.sh('git -C remote.git rev-parse topic/x')).toBe(rules.sh('git rev-parse HEAD'));
  });

  test.each([
    ['nowhere, when there is no remote', 'git push'],
    [
      'from a detached head, which has no name',
      'git remote add origin ./remote.git && git checkout -q --detach && git push',
    ],
    [
      'over what others pushed',
      'git push ./remote.git topic/x && git commit -q --amend -m other && git push ./remote.git topic/x',
    ],
    ['under a name that does not exist', 'git push ./remote.git master'],
  ])('is not pushed %s', async (_, command) => {
    await rules.isLeftAlone(command);
  });
});

describe('a branch that exists', () => {
  test.each([
    'git checkout -q -b topic',
    "git checkout -b 'topic'",
    'git switch -c topic',
    'git -c advice.detachedHead=false switch --create topic',
    'git branch topic && git checkout -q topic',
  ])('with nothing of its own is taken: %s', async (command) => {
    rules.commit({ 'a.txt': 'a' });
    rules.sh('git branch topic');
    rules.commit({ 'b.txt': 'b' });
    const head = rules.sh('git rev-parse HEAD');
    expect(await rules.repair(`${command} && echo c > c.txt && git add -A && git commit -qm deps`)).toBe(
      'git-branch-exists',
    );
    expect(rules.sh('git symbolic-ref --short HEAD')).toBe('topic');
    expect(rules.sh('git rev-parse HEAD^')).toBe(head);
  });

  test('with commits of its own stays as it is, and the step failed', async () => {
    rules.commit({ 'a.txt': 'a' });
    rules.sh('git checkout -qb topic');
    rules.commit({ 'b.txt': 'b' });
    const topic = rules.sh('git rev-parse HEAD');
    rules.sh('git checkout -q main');
    await rules.staysFailed('git checkout -b topic');
    await rules.staysFailed('git branch topic');
    expect([rules.sh('git rev-parse topic'), rules.sh('git symbolic-ref --short HEAD')]).toEqual([topic, 'main']);
  });

  test('is not taken when it was to start elsewhere', async () => {
    rules.commit({ 'a.txt': 'a' });
    rules.sh('git branch topic && git branch other');
    await rules.isLeftAlone('git checkout -b topic other');
    await rules.isLeftAlone('git branch topic other');
  });
});

describe('a tag that exists', () => {
  beforeEach(() => rules.commit({ 'a.txt': 'a' }));

  test.each(['git tag v1.2.0', "git tag -a v1.2.0 -m 'Version 1'", 'git tag -a -m x "v1.2.0"'])(
    'at this commit is what was asked for: %s',
    async (command) => {
      rules.sh('git tag -a v1.2.0 -m earlier');
      expect(await rules.repair(`${command} && git describe`)).toBe('git-tag-exists');
    },
  );

  test('at another commit is a failure', async () => {
    rules.sh('git tag v1.2.0');
    rules.commit({ 'b.txt': 'b' });
    await rules.staysFailed('git tag v1.2.0');
    await rules.isLeftAlone('git tag v1.2.0 HEAD~1');
  });
});

describe('a remote that exists', () => {
  test('gets the address that was asked for', async () => {
    rules.sh('git remote add origin /nowhere && git init -q --bare remote.git');
    expect(await rules.repair('git remote add origin ./remote.git && git fetch -q origin')).toBe('git-remote-exists');
    expect(rules.sh('git remote get-url origin')).toBe('./remote.git');
  });

  test('is left alone when more than an address was asked for', async () => {
    rules.sh('git remote add origin /nowhere');
    await rules.isLeftAlone('git remote add -t main origin ./remote.git');
  });
});

describe('a message that an editor was to write', () => {
  beforeEach(() => rules.commit({ 'a.txt': 'a' }));

  test('is taken as git prepared it', async () => {
    rules.write({ 'b.txt': 'b' });
    expect(await rules.repair('git add -A && git commit -q --amend')).toBe('git-needs-editor');
    expect([rules.sh('git log -1 --format=%s'), rules.committed()]).toEqual(['change', ['a.txt', 'b.txt']]);
  });

  test('is taken when a rebase goes on', async () => {
    rules.sh('git checkout -qb topic');
    rules.commit({ 'a.txt': 'topic' });
    rules.sh('git checkout -q main');
    rules.commit({ 'a.txt': 'main' });
    rules.sh('git checkout -q topic; git rebase -q main || true; git checkout -q --theirs a.txt && git add a.txt');
    expect(await rules.repair('git rebase --continue')).toBe('git-needs-editor');
    expect(rules.sh('git log -1 --format=%s && cat a.txt')).toBe('change\ntopic');
  });

  test.each(['git add -A && git commit', 'git tag -a v1'])(
    'that nobody prepared stays missing: %s',
    async (command) => {
      rules.write({ 'b.txt': 'b' });
      await rules.staysFailed(command);
      expect(rules.sh('git rev-list --count HEAD; git tag')).toBe('1');
    },
  );

  test.each(['git rebase -i --root', 'git rebase --interactive --root'])(
    'of a choice is nobody’s: %s',
    async (command) => {
      await rules.isLeftAlone(command);
    },
  );
});
