import type { Decision } from '@fixpoint/contracts/human-decision';
import { fold } from '@fixpoint/decider/decider';
import { DEFAULT_BOUNDS } from '@fixpoint/documents/built-in-protocol';
import { askCondition } from '@fixpoint/validation/condition';
import { describe, expect, test } from '@jest/globals';
import type { DecideHandoff } from '../commands.ts';
import { lineage } from '../decide.ts';
import { mode, nodeSpec, ROOT, ref, taskSpec, verdict } from '../lineage.fixture.ts';
import { descendantsOf } from '../tree.ts';
import { API, EpicPlay, slice, splitInTwo, WEB } from './epic.fixture.ts';

const RETRY: Decision = { kind: 'retry', from_node: null };

/** Decides the newest handoff of a unit, on the version that it has. */
const command = (play: EpicPlay, id: string, decision: Decision): DecideHandoff => {
  const handoff = play.unitOf(id).handoff;
  if (handoff === null) throw new Error(`nobody is asked about ${id}`);
  return {
    type: 'decide_handoff',
    ...{ handoff: handoff.id, version: handoff.version, decisionId: handoff.id, decision },
    ...{ nodes: null, actor: 'ada', authenticated: 'api_key', signature: 'a.b.c' },
    ...{ comment: null, commentArtifact: null },
  };
};
const decide = (play: EpicPlay, id: string, decision: Decision) => play.send(command(play, id, decision));

const noSplit = (play: EpicPlay, id: string) =>
  play.send({
    type: 'decide_split',
    answer: {
      ...{ root: ROOT, task: id, address: play.task(id).address, request: play.unitOf(id).request.number },
      ...{ should_decompose: false, reason: 'it is small', confidence: 'high', adapter: 'structural' },
      spent: { duration_ms: 1, money_micros: 0, tokens: 0 },
    },
  });

const stalled = (): EpicPlay => {
  const play = new EpicPlay();
  play.submit();
  return play.stall(ROOT);
};

describe('the ways of a stalled unit', () => {
  test('H-T11 lead to a human when the council declines', () => {
    const play = stalled();
    expect(noSplit(play, ROOT)).toEqual(['human_required', 'affinity_changed']);
    expect(play.unit.handoff).not.toBeNull();
  });

  test('H-T42 lead back to a human who asked for a split that the council declines', () => {
    const play = stalled();
    noSplit(play, ROOT);
    expect(decide(play, ROOT, { kind: 'split', hint: 'by layer' })).toContain('decomposition_requested');
    expect(play.unit.handoff).toBeNull();
    expect(noSplit(play, ROOT)).toContain('human_required');
    expect(play.unit.handoff).not.toBeNull();
  });

  test('H-T37 lead past every human when the council can split what the last agent could not do', () => {
    const play = new EpicPlay(mode({ auto_agent_max_attempts: 1 }));
    play.known = { agentModels: ['smith'] };
    play.submit(taskSpec([nodeSpec({ model: 'smith' })])).stall(ROOT);
    expect(play.unit.agentAttempts).toBe(1);
    expect(play.split(ROOT, [slice('api'), slice('web')])).toContain('epic_opened');
    expect(play.count('human_required')).toBe(0);
  });

  test('H-T44 are not for a unit that is verified: it asks nobody', () => {
    const play = new EpicPlay();
    play.submit();
    expect(play.judge()).toEqual(['node_completed', 'task_completed']);
    expect([play.count('task_stalled'), play.count('decomposition_requested')]).toEqual([0, 0]);
  });

  test('H-T52 leave a submission the one that it was: sent again after a split, it makes nothing', () => {
    const play = splitInTwo();
    const before = play.facts.length;
    play.submit();
    expect(play.facts).toHaveLength(before);
  });

  test('U-T10 are bounded where the mode says nothing: two levels, eight children, counted from a root at nought', () => {
    expect(DEFAULT_BOUNDS).toMatchObject({ max_decomposition_depth: 2, max_total_decomposition_children: 8 });
    const play = splitInTwo();
    expect([play.root.splitDepth, play.task(API).splitDepth]).toEqual([0, 1]);
  });

  test('U-T15 give an agent three tries where the mode says nothing, and not one more', () => {
    const play = new EpicPlay(mode({ auto_agent_max_attempts: DEFAULT_BOUNDS.auto_agent_max_attempts }));
    play.known = { agentModels: ['smith'] };
    play.submit(taskSpec([nodeSpec({ model: 'smith' })])).stall(ROOT);
    expect(play.facts.filter((fact) => fact.type === 'node_ready' && fact.data.run_kind === 'agent')).toHaveLength(3);
  });

  test('U-T07 let a human lift the rank, and nothing but the rank: where there is no room the run waits', () => {
    const buried = (): EpicPlay => {
      const play = stalled();
      noSplit(play, ROOT);
      expect(play.unit.affinity).toBe(-10);
      return play;
    };
    expect(decide(buried(), ROOT, RETRY)).toEqual(['human_decided', 'affinity_changed', 'node_ready']);
    const crowded = buried();
    crowded.admission = { room: false, paused: [] };
    expect(decide(crowded, ROOT, RETRY)).toEqual(['human_decided', 'affinity_changed', 'node_queued']);
  });
});

describe('what is below a unit', () => {
  test('C17 is told by its parents, not by how its name begins', () => {
    const play = new EpicPlay(mode({ max_total_decomposition_children: 20 }));
    play
      .submit()
      .stall(ROOT)
      .split(
        ROOT,
        Array.from({ length: 11 }, (_, n) => slice(`s${n}`)),
      );
    play.stall(API).split(API, [slice('a'), slice('b')]);
    expect(play.task(`${ROOT}.11`).status).toBe('open');
    expect(descendantsOf(play.state, API).map(({ id }) => id)).toEqual([`${API}.1`, `${API}.2`]);
  });
});

describe('whoever waits for a human', () => {
  test('D2 goes on from what is stored: a process that reads the log anew decides the same', () => {
    const play = stalled();
    noSplit(play, ROOT);
    const stored = JSON.parse(JSON.stringify(play.facts)) as typeof play.facts;
    const asked = { ...command(play, ROOT, RETRY), now: play.now, mode: play.mode, askCondition };
    const anew = lineage.decide(asked, fold(lineage, lineage.initial, stored));
    expect(anew.map(({ type }) => type)).toEqual(['human_decided', 'affinity_changed', 'node_ready']);
    expect(anew).toEqual(lineage.decide(asked, play.state));
  });

  test('D5 four times in one task has each node done once, and no decision twice', () => {
    const ids = ['one', 'two', 'three', 'four'];
    const play = new EpicPlay();
    play.submit(taskSpec(ids.map((id) => nodeSpec({ id }))));
    for (const id of ids) {
      play.judge([verdict('size', { severity: 'warning' })], { outcome: 'escalate' });
      const asked = command(play, ROOT, approvalOf(play));
      expect(play.send(asked)).toEqual(['human_decided', 'node_ready']);
      expect(play.send(asked)).toEqual([]);
      expect(play.ready.node.id).toBe(id);
      play.judge();
    }
    const done = play.facts.flatMap((fact) => (fact.type === 'node_completed' ? [fact.data.node_id] : []));
    expect(done).toEqual(ids);
    expect([play.root.status, play.count('human_decided')]).toEqual(['completed', 4]);
  });

  test('D6 is always a unit: what a fix of a child would need ends its recovery, and the child goes on from there', () => {
    const play = splitInTwo();
    play.on(API).judge([verdict('lint')], { workspace_ref: ref('api') });
    play.on(`${API}.f1`).escalate();
    expect(play.count('human_required')).toBe(0);
    play.stall(API);
    expect(noSplit(play, API)).toEqual(['human_required', 'affinity_changed']);
    expect(play.last('human_required').task).toBe(API);
    expect(decide(play, API, RETRY)).toContain('node_ready');
    expect(play.task(WEB).current).not.toBeNull();
    play.done(API);
    play.done(WEB);
    expect(play.ready.task).toBe(ROOT);
  });
});

const approvalOf = (play: EpicPlay): Decision => {
  const { judged, verdicts } = play.last('human_required');
  if (judged === null) throw new Error('nothing was judged');
  const { run, phase, spec_hash, workspace_ref } = judged;
  const lifts = verdicts.map(({ validator, evidence_hash }) => ({ validator, evidence_hash }));
  return { kind: 'approve', task: ROOT, run, phase, spec_hash, tree: workspace_ref?.tree ?? null, lifts };
};
