import type { Finding } from '@fixpoint/contracts/verdict';
import { type CouncilQuestion, directionSchema, reviewSchema } from '@fixpoint/models/council-model';
import { councilModelContract } from '@fixpoint/models/council-model.contract';
import { describe, expect, test } from '@jest/globals';
import { questionOf, requestOf } from '../council.fixture.ts';
import { nodeOf, partOf, sliceable, sliceOf } from '../domain/slices.fixture.ts';
import { structuralCouncil } from './structural-council.ts';

const declared = questionOf({ declared_parts: [partOf('api'), partOf('web')] });

councilModelContract('structural', async () => ({
  model: structuralCouncil,
  divisible: declared,
  whole: questionOf(),
}));

const { signal } = new AbortController();
const look = async (question: CouncilQuestion) =>
  directionSchema.parse((await structuralCouncil.direction(question, signal)).said);
const review = async (question: Parameters<typeof structuralCouncil.review>[0]) =>
  reviewSchema.parse((await structuralCouncil.review(question, signal)).said);
const finding = (path: string): Finding => ({ rule: 'r', path, line: 1, criterion: null, message: 'm' });
const patchOf = (path: string) => `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-a\n+b\n`;

describe('the structural council', () => {
  test('takes declared parts before anything that it could guess, with the inputs of the unit and parts of parts', async () => {
    const api = { ...partOf('api'), parts: [partOf('routes'), partOf('store')] };
    const goal = '1. one thing\n2. another thing';
    const { slices, lens } = await look(
      questionOf({ goal, node: sliceable, inputs: { v: 2 }, declared_parts: [api, partOf('web')] }),
    );
    expect(lens).toBe('declared parts');
    expect(slices).toMatchObject([
      { name: 'api', inputs: { v: 2 }, parts: [{ name: 'routes' }, { name: 'store' }] },
      { name: 'web', paths: ['web/**'], nodes: [{ recipe: { command: 'make web' } }] },
    ]);
  });

  test('cuts along a list in the goal, without what is ticked, and tells the recipe which slice it is for', async () => {
    const goal =
      'All is migrated:\n- [x] done before\n- [ ] move the users\n- [ ] drop the old table\n3. tell the docs';
    const { slices, lens } = await look(questionOf({ goal, node: sliceable }));
    expect(lens).toBe('vertical slices');
    expect(slices.map(({ name }) => name)).toEqual(['move the users', 'drop the old table', 'tell the docs']);
    expect(slices[0]?.nodes[0]).toMatchObject({
      goal: 'move the users',
      env: { FIXPOINT_SLICE_NAME: 'move the users', FIXPOINT_SLICE_PATHS: '' },
      recipe: sliceable.recipe,
    });
  });

  test('cuts the diff so far by layer, below the folder that all files share', async () => {
    const changed = ['src/api/a.ts', 'src/api/b.ts', 'src/web/c.ts', 'src/db/d.sql'];
    const { slices, lens } = await look(questionOf({ node: sliceable }, { changed }));
    expect(lens).toBe('architecture');
    expect(slices.map(({ paths }) => paths)).toEqual([['src/api/**'], ['src/web/c.ts'], ['src/db/d.sql']]);
    expect(slices[0]?.nodes[0]?.env.FIXPOINT_SLICE_PATHS).toBe('src/api/**');
  });

  test('H-T61 H-T62 isolates what fails; what no finding names lands first, as it is', async () => {
    const changed = ['src/a.ts', 'src/b.ts'];
    const patch = changed.map(patchOf).join('');
    const node = { ...sliceable, goal: 'x' };
    const only = { findings: [finding('src/a.ts')], changed, patch };
    const { slices, lens } = await look(questionOf({ node, declared_parts: null }, only));
    expect(lens).toBe('failing part');
    expect(slices).toMatchObject([
      {
        salvage: true,
        paths: ['src/b.ts'],
        nodes: [
          {
            recipe: { primitive: 'git-apply-patch', with: { patch: patchOf('src/b.ts') } },
            postcondition: { all: [{ primitive: 'git-patch-applied' }, { command: 'make test-$FIXPOINT_SLICE_NAME' }] },
            env: { FIXPOINT_SLICE_NAME: 'what works', FIXPOINT_SLICE_PATHS: 'src/b.ts' },
          },
        ],
      },
      { salvage: false, paths: ['src/a.ts'] },
    ]);
  });

  test('takes the cut for which most speaks: one broken file of many, or many layers', async () => {
    const wide = ['a/1.ts', 'b/2.ts', 'c/3.ts', 'd/4.ts'];
    const flat = ['a/1.ts', 'a/2.ts', 'a/3.ts', 'b/4.ts'];
    const failing = (changed: readonly string[], broken: readonly string[]) =>
      look(questionOf({ node: sliceable }, { changed: [...changed], findings: broken.map(finding) }));
    expect((await failing(wide, wide.slice(0, 3))).lens).toBe('architecture');
    expect((await failing(flat, ['a/1.ts'])).lens).toBe('failing part');
  });

  test('does not ask about kept files what can only be asked about all', async () => {
    const node = { ...sliceable, postcondition: nodeOf().postcondition };
    const patch = patchOf('a/1.ts') + patchOf('b/2.ts');
    const only = { changed: ['a/1.ts', 'b/2.ts'], findings: [finding('a/1.ts')], patch };
    const { slices } = await look(questionOf({ node }, only));
    expect(slices[0]?.nodes[0]?.postcondition?.all).toMatchObject([{ primitive: 'git-patch-applied' }]);
    expect(slices[0]?.nodes[0]?.postcondition?.all).toHaveLength(1);
  });

  test('H-T64 leaves a patch that is too large for an event to the other slice', async () => {
    const { failingPart } = await import('./lenses.ts');
    const patch = `${patchOf('a.ts')}${patchOf('b.ts')}${'+x\n'.repeat(10_000)}`;
    const { slices } = failingPart.look(
      questionOf({ node: sliceable }, { changed: ['a.ts', 'b.ts'], detail: 'a.ts:3 fails', patch }),
    );
    expect(slices).toMatchObject([
      { salvage: false, paths: ['a.ts'] },
      { salvage: false, paths: ['b.ts'] },
    ]);
  });

  test('declines a unit whose recipe can not be told to do less: its slices would be the unit again', async () => {
    const { slices, confidence, reasoning } = await look(questionOf({}, { changed: ['a/x.ts', 'b/y.ts'] }));
    expect([slices, confidence]).toEqual([[], 'high']);
    expect(reasoning).toContain('FIXPOINT_SLICE_');
  });

  test('H-T59 a slice that runs the unit’s own work is rejected, and what has no check of its own is said', async () => {
    const again = sliceOf('again', { nodes: [nodeOf()] });
    expect(await review({ request: requestOf(), slices: [sliceOf('api'), again] })).toMatchObject({
      verdict: 'reject',
      confidence: 'high',
      reasons: [expect.stringContaining('again is as hard as the unit')],
    });
    const unchecked = sliceOf('web', { nodes: [nodeOf({ recipe: { command: 'make web' }, postcondition: null })] });
    expect(await review({ request: requestOf(), slices: [sliceOf('api'), unchecked] })).toMatchObject({
      verdict: 'approve',
      confidence: 'medium',
    });
  });

  test('is not sure of slices that are held to the check of the whole', async () => {
    const node = { ...sliceable, postcondition: nodeOf().postcondition };
    const slices = [sliceOf('a', { nodes: [node] }), sliceOf('b', { nodes: [node] })];
    expect(await review({ request: requestOf({ node }), slices })).toMatchObject({
      verdict: 'approve',
      confidence: 'low',
    });
  });
});
