import { expect, test } from '@jest/globals';
import { API, type EpicPlay, splitInTwo, WEB } from '../epics/epic.fixture.ts';
import { ref } from '../lineage.fixture.ts';

/** The merge of one child is withheld by the gate, and its sibling is verified. */
const withheld = (): EpicPlay => {
  const play = splitInTwo();
  play.good(API);
  play.on(API).escalate();
  expect(play.good(WEB)).toContain('node_ready');
  return play;
};

const approve = (play: EpicPlay): string[] => {
  const { handoff, judged, verdicts } = play.last('human_required');
  if (judged === null) throw new Error('nothing was judged');
  const { run, phase, spec_hash, workspace_ref } = judged;
  const lifts = verdicts.map(({ validator, evidence_hash }) => ({ validator, evidence_hash }));
  const about = { task: API, run, phase, spec_hash, tree: workspace_ref?.tree ?? null };
  return play.send({
    ...{
      type: 'decide_handoff',
      handoff,
      version: 1,
      decisionId: 'd1',
      decision: { kind: 'approve', ...about, lifts },
    },
    ...{
      nodes: null,
      actor: 'ada',
      authenticated: 'api_key',
      signature: 'a.b.c',
      comment: null,
      commentArtifact: null,
    },
  });
};

test('a merge that a human approves waits until no sibling is being merged', () => {
  const play = withheld();
  expect(approve(play)).toEqual(['human_decided']);
  expect(play.merged(WEB)).toEqual(expect.arrayContaining(['task_completed', 'epic_child_resolved', 'node_ready']));
  expect(play.on(API).ready).toMatchObject({ run_kind: 'integrate', workspace_ref: ref(`${WEB}#2`) });
});

test('a merge that a human approves is made into what the epic holds by then, and drops nothing of its siblings', () => {
  const play = withheld();
  play.merged(WEB);
  expect(approve(play)).toEqual(['human_decided', 'node_ready']);
  expect(play.on(API).ready).toMatchObject({ run_kind: 'integrate', workspace_ref: ref(`${WEB}#2`) });
});

test('a merge that a human approves goes on as it was looked at, where nothing has been merged since', () => {
  const play = splitInTwo();
  play.good(API);
  play.on(API).escalate();
  approve(play);
  expect(play.on(API).ready).toMatchObject({ run_kind: 'integrate', purpose: 'decided', verdicts_of: 2 });
});

test('what is verified and only waits to be merged can not be split', () => {
  const play = withheld();
  expect(play.last('human_required').decisions).toEqual(['amend', 'approve', 'resolve', 'abandon']);
});
