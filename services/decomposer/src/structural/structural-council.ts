import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import type { Slice } from '@fixpoint/contracts/events/decomposer-events';
import type { CouncilModel, CouncilQuestion, Direction, Review, ReviewQuestion } from '@fixpoint/models/council-model';
import { objectionsTo } from '../domain/checks/objections.ts';
import { canBeSliced, checkCanBeSliced } from './derived-slice.ts';
import { architecture, declaredParts, failingPart, type Lens, verticalSlices } from './lenses.ts';

/**
 * All are asked; of those that see sound slices, the one for which most speaks is taken. Between equals: what an author said
 * before what a judgement named, and that before what is guessed.
 */
const LENSES: readonly Lens[] = [declaredParts, verticalSlices, failingPart, architecture];

const FREE = { money_micros: 0, tokens: 0 };

const direction = (question: CouncilQuestion): Direction => {
  const { request, changed } = question;
  const looks = LENSES.map((lens) => ({ lens, ...lens.look(question) })).map((look) => ({
    ...look,
    objections: look.slices.length === 0 ? [] : objectionsTo(look.slices, { ...request, changed }),
  }));
  const sound = looks.filter(({ slices, objections }) => slices.length > 0 && objections.length === 0);
  const [best] = sound.toSorted((one, other) => other.support - one.support);
  const said = looks.map(({ lens, why, objections }) => `${lens.name}: ${[why, ...objections].join(', ')}`);
  const reasoning = said.join('; ').slice(0, 4000);
  if (best === undefined) return { slices: [], lens: null, reasoning, confidence: 'high' };
  return { slices: [...best.slices], lens: best.lens.name, reasoning, confidence: 'high' };
};

const sameAction = (one: NodeSpec, other: NodeSpec): boolean =>
  JSON.stringify([one.recipe, one.postcondition]) === JSON.stringify([other.recipe, other.postcondition]);

/** As hard as the unit itself: it does the same, and nothing of it listens to which slice it is. */
const isWholeWork = ({ nodes, salvage }: Slice, stalled: NodeSpec | null): boolean =>
  stalled !== null && !salvage && nodes.some((node) => sameAction(node, stalled) && !canBeSliced(node));

/** It is done only when the whole unit is. */
const isHeldToTheWhole = ({ nodes }: Slice, stalled: NodeSpec | null): boolean =>
  stalled?.postcondition != null &&
  nodes.some(
    (node) => JSON.stringify(node.postcondition) === JSON.stringify(stalled.postcondition) && !checkCanBeSliced(node),
  );

const hasNoCheck = ({ nodes }: Slice): boolean =>
  nodes.every(({ kind, postcondition }) => kind !== 'gate' && postcondition === null);

const review = ({ request, slices }: ReviewQuestion): Review => {
  const whole = slices.filter((slice) => isWholeWork(slice, request.node));
  if (whole.length > 0) {
    const reasons = whole.map(({ name }) => `${name} is as hard as the unit: it runs the same`);
    return { verdict: 'reject', confidence: 'high', reasons };
  }
  const held = slices.filter((slice) => isHeldToTheWhole(slice, request.node));
  const unchecked = slices.filter(hasNoCheck);
  const reasons = [
    ...held.map(({ name }) => `${name} is held to the check of the whole unit`),
    ...unchecked.map(({ name }) => `${name} has no check: only its exit code speaks for it`),
  ];
  if (held.length > 0) return { verdict: 'approve', confidence: 'low', reasons };
  return { verdict: 'approve', confidence: unchecked.length > 0 ? 'medium' : 'high', reasons };
};

/** The council without a model: slices that stand in the task, its goal or its diff. Answers the same question the same way. */
export const structuralCouncil: CouncilModel = {
  name: 'structural',
  direction: async (question) => ({ said: direction(question), spent: FREE }),
  review: async (question) => ({ said: review(question), spent: FREE }),
};
