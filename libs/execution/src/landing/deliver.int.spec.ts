import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Delivered } from '../workspaces.ts';
import { filesIn, type LandingPlace, landingPlace } from './landing.fixture.ts';

let place: LandingPlace;
let base: WorkspaceRef;

beforeEach(async () => {
  place = landingPlace({ 'a.txt': 'a\n', '.gitignore': 'cache/\n' });
  base = await place.start();
});

afterEach(() => place.close());

const deliver = (ref: WorkspaceRef, branch = 'fixpoint/shop', url = place.url): Promise<Delivered> =>
  place.workspaces.deliver(ref, { url, branch, keep: ['cache'], message: 'What was left' });

const tip = (branch = 'fixpoint/shop'): string => place.git(place.url, 'rev-parse', '--verify', `refs/heads/${branch}`);

/** What a checkout of the branch holds. */
const delivered = (branch = 'fixpoint/shop'): Record<string, string> => {
  const folder = place.fresh('clone');
  place.git(place.top, 'clone', '-q', '-b', branch, place.url, folder);
  return filesIn(folder);
};

describe('a result', () => {
  test('stands on its branch, commits and all', async () => {
    const ref = await place.committed(base, { 'b.txt': 'b\n' }, 'Add b');
    expect(await deliver(ref)).toEqual({ outcome: 'delivered', commit: ref.head, already: false });
    expect(tip()).toBe(ref.head);
    expect(place.git(place.url, 'log', '--format=%s', 'fixpoint/shop')).toBe('Add b\nFirst');
  });

  test('H-T101 is delivered once, however often that is asked', async () => {
    const ref = await place.uncommitted(base, { 'b.txt': 'b\n' });
    const first = await deliver(ref);
    expect(await deliver(ref)).toEqual({ ...first, already: true });
    expect(tip()).toBe(first.commit);
  });

  test('has what nobody committed in a commit of its own, without what only the task keeps', async () => {
    const ref = await place.uncommitted(base, { 'b.txt': 'b\n', 'cache/c': 'c\n' }, ['cache']);
    await deliver(ref);
    expect(delivered()).toEqual({ 'a.txt': 'a\n', 'b.txt': 'b\n', '.gitignore': 'cache/\n' });
    expect(place.git(place.url, 'log', '--format=%s', 'fixpoint/shop')).toBe('What was left\nFirst');
  });

  test('adds no commit where only what the task keeps is left', async () => {
    const ref = await place.uncommitted(base, { 'cache/c': 'c\n' }, ['cache']);
    expect(await deliver(ref)).toMatchObject({ outcome: 'delivered', commit: base.head });
  });

  test('goes on from what an earlier result put there', async () => {
    const first = await place.committed(base, { 'b.txt': 'b\n' });
    await deliver(first);
    const second = await place.committed(first, { 'c.txt': 'c\n' });
    expect(await deliver(second)).toMatchObject({ outcome: 'delivered', already: false });
    expect(tip()).toBe(second.head);
  });

  test.each(['file', 'bare'])('goes to a %s address, too', async (kind) => {
    const bare = place.fresh('bare');
    place.git(place.top, 'clone', '-q', '--bare', place.url, bare);
    const ref = await place.committed(base, { 'b.txt': 'b\n' });
    expect(await deliver(ref, 'main', kind === 'file' ? `file://${bare}` : bare)).toMatchObject({
      outcome: 'delivered',
    });
    expect(place.git(bare, 'rev-parse', 'main')).toBe(ref.head);
  });
});

describe('a branch that will not have it', () => {
  test('is never forced when it has moved on', async () => {
    const ref = await place.committed(base, { 'b.txt': 'b\n' });
    const other = await place.committed(base, { 'c.txt': 'c\n' });
    await deliver(other);
    const answer = await deliver(ref);
    expect(answer).toMatchObject({ outcome: 'refused', reason: 'moved_on', commit: ref.head });
    expect(answer).toMatchObject({ detail: expect.stringContaining(other.head) });
    expect(tip()).toBe(other.head);
  });

  test('is never forced when its commits are not known here', async () => {
    place.git(place.url, 'checkout', '-q', '-b', 'fixpoint/shop');
    place.git(place.url, 'commit', '-q', '--allow-empty', '-m', 'Elsewhere');
    place.git(place.url, 'checkout', '-q', 'main');
    const before = tip();
    const ref = await place.committed(base, { 'b.txt': 'b\n' });
    expect(await deliver(ref)).toMatchObject({ outcome: 'refused', reason: 'moved_on' });
    expect(tip()).toBe(before);
  });

  test('is not pulled away under who has it checked out, whatever is configured there', async () => {
    place.git(place.url, 'config', 'receive.denyCurrentBranch', 'updateInstead');
    const ref = await place.committed(base, { 'a.txt': 'b\n' });
    const answer = await deliver(ref, 'main');
    expect(answer).toMatchObject({ outcome: 'refused', reason: 'checked_out' });
    expect(answer).toMatchObject({ detail: expect.stringContaining('is checked out there') });
    expect(tip('main')).toBe(base.head);
    expect(filesIn(place.url)['a.txt']).toBe('a\n');
  });

  test('may be one that no such branch can stand beside', async () => {
    place.git(place.url, 'branch', 'fixpoint');
    const ref = await place.committed(base, { 'b.txt': 'b\n' });
    const answer = await deliver(ref).catch((error: unknown) => error);
    expect(answer).toMatchObject({ faultClass: 'workspace', code: 'push_failed' });
  });

  test('may be one that the repository keeps for itself', async () => {
    place.git(place.url, 'config', 'receive.shallowUpdate', 'false');
    place.git(place.url, 'config', 'transfer.hideRefs', 'refs/heads/fixpoint');
    const ref = await place.committed(base, { 'b.txt': 'b\n' });
    expect(await deliver(ref)).toMatchObject({ outcome: 'refused', reason: 'declined' });
  });
});

describe('a repository that can not be written to', () => {
  test('is a fault of the machinery', async () => {
    place.git(place.url, 'config', 'receive.maxInputSize', '1');
    const ref = await place.committed(base, { 'b.txt': 'b\n' });
    await expect(deliver(ref)).rejects.toMatchObject({ faultClass: 'workspace', code: 'push_failed' });
  });

  test('is a fault of the machinery when it is gone, and of the network when it is elsewhere', async () => {
    const ref = await place.committed(base, { 'b.txt': 'b\n' });
    await expect(deliver(ref, 'main', place.fresh('gone'))).rejects.toMatchObject({ faultClass: 'workspace' });
    const elsewhere = 'http://user:secret@127.0.0.1:9/shop.git';
    const error = await deliver(ref, 'main', elsewhere).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ faultClass: 'network', code: 'source_unreachable' });
    expect(String(error)).not.toContain('secret');
  });

  test.each(['--upload-pack=touch', 'main\nother'])('is not asked about a branch called %j', async (branch) => {
    await expect(deliver(base, branch)).rejects.toMatchObject({ faultClass: 'source', code: 'source_invalid' });
  });
});

test('a hostile repository has none of its hooks and programs run', async () => {
  const trap = join(place.top, 'trapped');
  const hooks = place.fresh('hooks');
  mkdirSync(hooks);
  for (const folder of [hooks, join(place.url, '.git', 'hooks')]) {
    mkdirSync(folder, { recursive: true });
    for (const name of ['pre-receive', 'update', 'post-receive', 'post-update', 'reference-transaction', 'pre-push']) {
      writeFileSync(join(folder, name), `#!/bin/sh\ntouch ${trap}\n`, { mode: 0o755 });
    }
  }
  for (const [key, value] of [
    ['core.hooksPath', hooks],
    ['core.fsmonitor', `touch ${trap}`],
    ['core.alternateRefsCommand', `touch ${trap}`],
    ['uploadpack.packObjectsHook', `touch ${trap}`],
  ] as const) {
    place.git(place.url, 'config', key, value);
  }
  writeFileSync(
    join(place.url, '.git', 'objects', 'info', 'alternates'),
    `${join(place.top, 'source', '.git', 'objects')}\n`,
  );
  const ref = await place.committed(base, { 'b.txt': 'b\n' });
  expect(await deliver(ref)).toMatchObject({ outcome: 'delivered' });
  expect(existsSync(trap)).toBe(false);
});
