import type { DecomposerEvent } from '@fixpoint/contracts/events/catalogue';
import type { Slice } from '@fixpoint/contracts/events/decomposer-events';
import { fold } from '@fixpoint/decider/decider';
import { given } from '@fixpoint/decider/given';
import { describe, expect, test } from '@jest/globals';
import { type CouncilCommand, council, type Opinion, type Proposal } from './council.ts';

const about = { root: 'r1', task: 'r1', address: '0', request: 2 };
const room = { children_left: 8, depth_left: 2 };
const spent = { duration_ms: 10, money_micros: 5, tokens: 7 };

const slice = (name: string): Slice => ({
  ...{ name, goal: name, paths: [name], inputs: {}, salvage: false, parts: [] },
  nodes: [],
});

const proposalOf = (more: Partial<Proposal> = {}): Proposal => ({
  ...{ slices: [slice('a'), slice('b')], lens: 'architecture', reasoning: 'two layers', confidence: 'medium' },
  objections: [],
  ...more,
});
const decline = (confidence: Proposal['confidence']) => proposalOf({ slices: [], lens: null, confidence });

const convene: CouncilCommand = { about, type: 'convene', adapter: 'm', documents: ['docs/adr/1.md'], room };
const propose = (proposal = proposalOf()): CouncilCommand => ({ about, type: 'propose', proposal, spent });
const review = (more: Partial<Opinion> = {}): CouncilCommand => ({
  ...{ about, type: 'review', spent },
  review: { verdict: 'approve', confidence: 'high', reasons: ['sound'], ...more },
});
const doubtful = review({ verdict: 'revise', confidence: 'low', reasons: ['b is not covered'] });
const fault: CouncilCommand = { about, type: 'fault', fault: { class: 'network', retry_after_ms: 5, detail: 'd' } };

/** The history that these commands make. */
const historyOf = (...commands: readonly CouncilCommand[]): DecomposerEvent[] => {
  const facts: DecomposerEvent[] = [];
  for (const command of commands) facts.push(...council.decide(command, fold(council, council.initial, facts)));
  return facts;
};
const stateAfter = (...commands: readonly CouncilCommand[]) => fold(council, council.initial, historyOf(...commands));
const typesOf = (facts: readonly DecomposerEvent[]): string[] => facts.map(({ type }) => type);
const answerOf = (...commands: readonly CouncilCommand[]) => {
  const last = historyOf(...commands).at(-1);
  return last?.type === 'split_decided' ? last.data : null;
};

describe('council', () => {
  test('H-T01 a sound split is proposed, reviewed apart from its reasoning, and decided', () => {
    const facts = historyOf(convene, propose(), review());
    expect(typesOf(facts)).toEqual(['council_convened', 'slicing_proposed', 'split_reviewed', 'split_decided']);
    expect(facts.at(-1)).toMatchObject({
      data: { should_decompose: true, slices: [{ name: 'a' }, { name: 'b' }], confidence: 'high', adapter: 'm' },
    });
    expect(facts.at(-1)?.data).toMatchObject({ spent: { duration_ms: 20, money_micros: 10, tokens: 14 } });
  });

  test('H-T02 a rejection that is certain is final at once', () => {
    const facts = historyOf(convene, propose(), review({ verdict: 'reject', reasons: ['b is a clone of a'] }));
    expect(typesOf(facts).slice(2)).toEqual(['split_reviewed', 'split_decided']);
    expect(facts.at(-1)).toMatchObject({ data: { should_decompose: false, reason: 'b is a clone of a' } });
  });

  test('in doubt the whole pair is asked once more, with what was objected to, and the second answer is final', () => {
    expect(stateAfter(convene, propose(), doubtful)).toMatchObject({
      next: 'direction',
      attempt: 2,
      objections: ['b is not covered'],
    });
    expect(answerOf(convene, propose(), doubtful, propose(), review())).toMatchObject({ should_decompose: true });
    expect(answerOf(convene, propose(), doubtful, propose(), doubtful)).toMatchObject({
      should_decompose: false,
      confidence: 'low',
    });
  });

  test('H-T47 a decline that is certain decides at once and makes nothing', () => {
    expect(answerOf(convene, propose(decline('high')))).toMatchObject({ should_decompose: false, confidence: 'high' });
  });

  test('a doubtful decline is asked once more, and believed then', () => {
    expect(stateAfter(convene, propose(decline('low')))).toMatchObject({ next: 'direction', attempt: 2 });
    expect(answerOf(convene, propose(decline('low')), propose(decline('low')))).toMatchObject({ confidence: 'low' });
  });

  test('H-T06 too few slices are asked for once more, and nobody reviews them', () => {
    const single = propose(proposalOf({ slices: [slice('a')], confidence: 'high', objections: ['1 slices'] }));
    expect(typesOf(historyOf(convene, single))).toEqual(['council_convened', 'slicing_proposed']);
    expect(stateAfter(convene, single).next).toBe('direction');
    expect(answerOf(convene, single, single)).toMatchObject({ should_decompose: false, reason: '1 slices' });
  });

  test('a proposal that the checks object to is not reviewed', () => {
    const objected = (confidence: Proposal['confidence']) =>
      propose(proposalOf({ objections: ['a and b are the same'], confidence }));
    expect(stateAfter(convene, objected('medium'))).toMatchObject({
      next: 'direction',
      objections: ['a and b are the same'],
    });
    expect(answerOf(convene, objected('high'))).toMatchObject({ reason: 'a and b are the same' });
  });

  test('H-T16 H-T17 without anybody to ask it declines, with that as its reason', () => {
    const alone: CouncilCommand = { about, type: 'convene', adapter: null, documents: [], room };
    expect(typesOf(historyOf(alone))).toEqual(['council_convened', 'split_decided']);
    expect(answerOf(alone)).toMatchObject({ reason: 'no_council', adapter: null });
  });

  test.each([
    ['no_children_left', { children_left: 1, depth_left: 2 }],
    ['no_depth_left', { children_left: 8, depth_left: 0 }],
  ])('H-B06 nobody is asked where no child may be made: %s', (reason, left) => {
    expect(answerOf({ ...convene, room: left } as CouncilCommand)).toMatchObject({ should_decompose: false, reason });
  });

  test('H-T31 a fault of the machinery ends the request and says nothing about the unit', () => {
    const facts = historyOf(convene, propose(), fault);
    expect(facts.at(-1)).toMatchObject({
      type: 'council_faulted',
      data: { class: 'network', retry_after_ms: 5, spent },
    });
    given(council, ...facts)
      .when(review())
      .thenNothing();
  });

  test('ends when what it may cost is used up', () => {
    expect(answerOf(convene, propose(), { about, type: 'stop_short' })).toMatchObject({ reason: 'budget_used_up' });
  });

  const every = {
    convene,
    propose: propose(),
    review: review(),
    fault,
    stop_short: { about, type: 'stop_short' } as const,
  };

  test.each(Object.entries(every))('is over once decided: %s changes nothing', (_, command) => {
    given(council, ...historyOf(convene, propose(), review()))
      .when(command)
      .thenNothing();
    given(council, ...historyOf(convene, fault))
      .when(command)
      .thenNothing();
  });

  test('records no answer to what was not asked', () => {
    given(council, ...historyOf(convene))
      .when(review())
      .thenNothing();
    given(council, ...historyOf(convene, propose()))
      .when(propose())
      .thenNothing();
    given(council, ...historyOf(convene))
      .when(convene)
      .thenNothing();
    given(council).when(propose()).thenNothing();
  });

  test('ignores facts of a later version', () => {
    const later = { type: 'unheard_of', data: {} } as unknown as DecomposerEvent;
    expect(council.evolve(council.initial, later)).toBe(council.initial);
  });
});
