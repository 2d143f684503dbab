import { type Decision, startsElsewhere } from '@fixpoint/contracts/human-decision';
import { askCondition } from '@fixpoint/validation/condition';
import { describe, expect, test } from '@jest/globals';
import { API, splitInTwo, WEB } from '../epics/epic.fixture.ts';
import { mode, NOW, nodeSpec, Play, ref, taskSpec, verdict } from '../lineage.fixture.ts';
import type { Turn } from '../lookup.ts';
import { claimHandoff } from './claim-handoff.ts';
import { decideHandoff } from './decide-handoff.ts';
import { notResolved } from './not-resolved.ts';

const HANDOFF = 'r1.h1';

interface Said {
  readonly handoff?: string;
  readonly version?: number;
  readonly id?: string;
  readonly actor?: string;
}

const decide = (play: Play, decision: Decision, more: Said = {}) =>
  play.send({
    type: 'decide_handoff',
    handoff: more.handoff ?? HANDOFF,
    version: more.version ?? 1,
    decisionId: more.id ?? 'd1',
    decision,
    nodes: decision.kind === 'amend' ? [nodeSpec({ recipe: { command: 'make it better' } })] : null,
    ...{ actor: more.actor ?? 'ada', authenticated: 'api_key', signature: 'a.b.c' },
    ...{ comment: null, commentArtifact: null },
  });

const claim = (play: Play, actor: string, version = 1) =>
  play.send({ type: 'claim_handoff', handoff: HANDOFF, version, actor, forMs: 60_000 });

/** At the floor: its only run was unmet, the check again too, and there is no council. */
const atFloor = (): Play => {
  const play = new Play(mode({ execute: 1 })).submit();
  play.unmet('t1');
  if (play.root.current !== null) play.unmet('t2');
  play.noSplit();
  return play;
};

const withheld = (phase: 'gate' | 'judge'): Play => {
  const play = new Play(mode()).submit();
  if (phase === 'gate') play.escalate();
  else play.judge([verdict('size', { severity: 'warning' })], { outcome: 'escalate' });
  return play;
};

const approval = (play: Play, evidence?: string): Decision => {
  const { judged, verdicts } = play.last('human_required');
  if (judged === null) throw new Error('nothing was judged');
  const { run, phase, spec_hash, workspace_ref } = judged;
  const lifts = verdicts.map((each) => ({
    validator: each.validator,
    evidence_hash: evidence ?? each.evidence_hash,
  }));
  return { kind: 'approve', task: 'r1', run, phase, spec_hash, tree: workspace_ref?.tree ?? null, lifts };
};

const RETRY: Decision = { kind: 'retry', from_node: null };
const RESOLVE: Decision = { kind: 'resolve', ref: null, exclude_children: [] };

describe('a decision', () => {
  test('D1 stands in one append with what follows from it: there is never one without the other', () => {
    const play = atFloor();
    expect(decide(play, RETRY)).toEqual(['human_decided', 'affinity_changed', 'node_ready']);
    expect(play.unit.handoff).toBeNull();
    expect(play.unit.affinity).toBe(0);
  });

  test('D7 of two people at once: one wins, and the other is told', () => {
    const play = atFloor();
    decide(play, RETRY, { id: 'd1' });
    expect(() => decide(play, { kind: 'resolve', ref: null, exclude_children: [] }, { id: 'd2' })).toThrow(
      'handoff_closed',
    );
  });

  test('sent again changes nothing', () => {
    const play = atFloor();
    decide(play, RETRY);
    expect(decide(play, RETRY)).toEqual([]);
  });

  test('about a version that has moved on is refused with the current one', () => {
    const play = atFloor();
    claim(play, 'ada');
    expect(() => decide(play, RETRY)).toThrow('is at version 2');
    expect(decide(play, RETRY, { version: 2 })).toContain('human_decided');
  });

  test('is left to whoever looks after the handoff, as long as they said', () => {
    const play = atFloor();
    claim(play, 'ada');
    expect(() => decide(play, RETRY, { version: 2, actor: 'bob' })).toThrow('handoff_claimed');
    play.now = '2026-01-01T00:02:00.000Z';
    expect(decide(play, RETRY, { version: 2, actor: 'bob' })).toContain('human_decided');
  });

  test.each(['r1.h2', 'r2.h1', 'nonsense'])('about %s, which never was, is refused', (handoff) => {
    const play = atFloor();
    expect(() => play.send({ type: 'claim_handoff', handoff, version: 1, actor: 'ada', forMs: 1 })).toThrow(
      'handoff_unknown',
    );
  });

  test('that the handoff does not allow is refused with those that it does', () => {
    expect(() => decide(withheld('judge'), RETRY)).toThrow('approve');
  });
});

describe('a retry', () => {
  test('is one more run; unmet again, it is back with a human', () => {
    const play = atFloor();
    decide(play, RETRY);
    expect(play.ready.run_kind).toBe('normal');
    play.unmet('t3');
    if (play.root.current !== null) play.unmet('t4');
    play.noSplit();
    expect(play.unit.handoff?.id).toBe('r1.h2');
  });

  test('begins with an earlier node where one is named', () => {
    const play = new Play(mode({ execute: 1 })).submit(taskSpec([nodeSpec({ id: 'a' }), nodeSpec({ id: 'b' })]));
    play.judge();
    play.unmet('t1');
    if (play.root.current !== null) play.unmet('t2');
    play.noSplit();
    decide(play, { kind: 'retry', from_node: 'a' });
    expect(play.ready.node.id).toBe('a');
  });

  test('of a node that is not there is refused', () => {
    expect(() => decide(atFloor(), { kind: 'retry', from_node: 'nowhere' })).toThrow('node_unknown');
  });
});

describe('a retry of what comes after the nodes', () => {
  test('delivers again, and does none of the verified work', () => {
    const workspace = { git: { url: 'https://example.org/shop.git', ref: 'main' }, keep: [] };
    const play = new Play(mode()).submit({ ...taskSpec(), workspace, deliver: { branch: 'done' } });
    play.judge();
    play.unmet();
    expect(play.last('human_required').stage).toBe('deliver');
    expect(decide(play, RETRY)).toEqual(['human_decided', 'node_ready']);
    expect(play.ready).toMatchObject({ run_kind: 'deliver', workspace_ref: ref('r1#1') });
  });

  test('merges the same verified work again', () => {
    const play = splitInTwo(mode({ integrate: 1 }));
    play.good(API);
    play.on(API).end({ outcome: 'unmet', merge_conflicts: ['a'], workspace_ref: ref('merge') });
    expect(decide(play, RETRY, { handoff: `${API}.h1` })).toEqual(['human_decided', 'node_ready']);
    expect(play.on(API).ready).toMatchObject({ run_kind: 'integrate', merge: { theirs: ref(`${API}#1`) } });
    expect(play.merged(API)).toContain('epic_child_resolved');
  });

  test('puts together once more what the children left, beside tries that wait for their time', () => {
    const play = splitInTwo(mode({ max_recompose_attempts: 1 }));
    play.done(API);
    play.done(WEB);
    play.on('r1').unmet('x');
    expect(play.last('human_required').stage).toBe('recompose');
    expect(decide(play, RETRY)).toEqual(['human_decided', 'affinity_changed', 'recompose_started', 'node_ready']);
    expect(play.recomposeDue()).toEqual([]);
    expect(play.ready).toMatchObject({ purpose: 'recompose', workspace_ref: ref(`${WEB}#2`) });
  });
});

describe('an amended unit', () => {
  const amend: Decision = { kind: 'amend', spec_hash: 'f'.repeat(64) };

  test('runs what was amended, under its new hash, three times more', () => {
    const play = atFloor();
    decide(play, amend);
    expect(play.ready.node.recipe).toEqual({ command: 'make it better' });
    expect(play.ready.spec_hash).toBe('f'.repeat(64));
    expect(play.root.node.granted.execute).toBe(3);
    play.unmet('t5');
    expect(play.ready.run_kind).toBe('normal');
  });

  test('is the same submission as before for whoever sends it again', () => {
    const play = atFloor();
    decide(play, amend);
    expect(play.submit().facts.filter(({ type }) => type === 'task_submitted')).toHaveLength(1);
  });
});

describe('an approval', () => {
  test('S-T111 names the run whose verdicts are decided anew, and rests on the signature', () => {
    const play = withheld('judge');
    decide(play, approval(play));
    const { verdicts_of, decisions, run_kind, workspace_ref } = play.ready;
    expect({ verdicts_of, decisions, run_kind }).toEqual({ verdicts_of: 1, decisions: ['a.b.c'], run_kind: 'check' });
    expect(workspace_ref).toEqual(ref('r1#1'));
  });

  test('before the run starts the same run as was withheld', () => {
    const play = withheld('gate');
    decide(play, approval(play));
    expect(play.ready).toMatchObject({ verdicts_of: 1, run_kind: 'normal', purpose: 'decided' });
  });

  test('survives a new token: the run that takes its place rests on the same', () => {
    const play = withheld('gate');
    decide(play, approval(play));
    play.refuse('token_expired');
    expect(play.ready).toMatchObject({ verdicts_of: 1, decisions: ['a.b.c'], purpose: 'regate' });
  });

  test('of other evidence than the handoff shows is refused', () => {
    const play = withheld('judge');
    expect(() => decide(play, approval(play, 'e'.repeat(64)))).toThrow('verdict_unknown');
  });

  test('never lifts a blocker or an error', () => {
    const play = new Play(mode()).submit();
    play.judge([verdict('size'), verdict('broken', { severity: 'warning', error: true })], { outcome: 'escalate' });
    expect(() => decide(play, approval(play))).toThrow('verdict_not_liftable');
  });
});

describe('a unit that a human resolved', () => {
  test('is checked, on the ref of theirs where they named one', () => {
    const play = new Play(mode({ execute: 1 })).submit({
      ...taskSpec(),
      workspace: { git: { url: 'https://example.org/shop.git', ref: 'main' }, keep: [] },
    });
    play.unmet('t1');
    if (play.root.current !== null) play.unmet('t2');
    play.noSplit();
    decide(play, { kind: 'resolve', ref: 'fixed', exclude_children: [] });
    expect(play.ready).toMatchObject({
      run_kind: 'check',
      workspace_ref: null,
      source: { url: 'https://example.org/shop.git', ref: 'fixed' },
      compared_with: { url: 'https://example.org/shop.git', ref: 'main' },
    });
    expect(startsElsewhere(play.ready)).toBe(true);
  });

  test('is compared with what its lineage began with, and not with itself', () => {
    const git = { url: 'https://example.org/shop.git', ref: 'main' };
    const ended = { ...ref('t1'), source: git };
    const resolvedOn = (named: string) => {
      const play = new Play(mode({ execute: 1 })).submit({ ...taskSpec(), workspace: { git, keep: [] } });
      play.end({ outcome: 'unmet', workspace_ref: ended });
      if (play.root.current !== null) play.end({ outcome: 'unmet', workspace_ref: ended });
      play.noSplit();
      decide(play, { kind: 'resolve', ref: named, exclude_children: [] });
      return play.ready;
    };
    expect(startsElsewhere(resolvedOn('fixed'))).toBe(true);
    expect(resolvedOn('main')).toMatchObject({ workspace_ref: null, source: git });
  });

  test('and is not met goes back to a human with what was found, and to nobody else', () => {
    const play = atFloor();
    decide(play, RESOLVE);
    expect(play.unmet('t6')).toEqual(['run_counted', 'human_required']);
    expect(play.last('human_required').raw_halt_type).toBe('not_resolved');
  });

  test('and whose check says nothing is told of in words of our own', () => {
    const play = atFloor();
    decide(play, RESOLVE);
    play.end({ outcome: 'unmet', postcondition_met: false, detail: '' });
    expect(play.last('human_required').detail).toContain('its check does not hold');
  });

  test('and is judged bad too', () => {
    const play = atFloor();
    decide(play, RESOLVE);
    expect(play.judge([verdict('lint')])).toEqual(['run_counted', 'human_required']);
  });

  test('and is met goes on', () => {
    const play = atFloor();
    decide(play, RESOLVE);
    expect(play.judge()).toContain('task_completed');
  });

  test('elsewhere than in a repository has no ref', () => {
    expect(() => decide(atFloor(), { kind: 'resolve', ref: 'fixed', exclude_children: [] })).toThrow('no_source');
  });
});

test('a split by a human asks the council with the hint', () => {
  const play = atFloor();
  expect(decide(play, { kind: 'split', hint: 'by package' })).toContain('decomposition_requested');
  expect(play.last('decomposition_requested').hint).toBe('by package');
});

describe('alone', () => {
  const turnOf = ({ state, mode: modeSpec }: Play): Turn => ({ state, mode: modeSpec, now: NOW, askCondition });
  const asked = { handoff: HANDOFF, version: 1, actor: 'ada' } as const;

  test('a claim lasts as long as was asked for', () => {
    const [claimed] = claimHandoff({ type: 'claim_handoff', ...asked, forMs: 60_000 }, turnOf(atFloor()));
    expect(claimed).toMatchObject({ data: { by: 'ada', until: '2026-01-01T00:01:00.000Z', version: 2 } });
  });

  test('a decision about a unit without a handoff is refused', () => {
    const more = { decisionId: 'd1', decision: RETRY, nodes: null, authenticated: 'loopback' } as const;
    const command = { type: 'decide_handoff', ...asked, ...more, signature: '', comment: null, commentArtifact: null };
    expect(() => decideHandoff({ ...command, type: 'decide_handoff' }, turnOf(new Play().submit()))).toThrow(
      'handoff_unknown',
    );
  });

  test('what was found of a resolved unit is handed over whole', () => {
    const play = new Play().submit();
    const found = { run: 1, detail: 'not there', verdicts: [verdict('lint')] };
    expect(notResolved(turnOf(play), play.root, found)).toMatchObject([
      { data: { verdicts: [{ validator: 'lint' }] } },
    ]);
  });
});
