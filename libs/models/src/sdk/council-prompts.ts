import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import type { CouncilQuestion, CouncilRequest, ReviewQuestion } from '../council-model.ts';
import { ABOUT_FENCES, fenced } from '../fenced.ts';

/** One way to look at a unit that is stuck. */
export interface Lens {
  readonly name: string;
  readonly instructions: string;
}

const SHAPE = [
  'Answer with a JSON object. "slices": two to six smaller tasks that together do the whole, or none when you see no good cut.',
  'Each has a "name" (lower-case, dashes), a "goal", the "paths" (globs of the workspace) that it alone may touch, "salvage"',
  '(true for at most one, which lands the part of the diff that works and nothing else), and "steps": commands for /bin/sh,',
  'each with its "goal" and a "check", a command that ends with 0 only when that goal is reached, or null where there is none.',
  'Slices must be shippable alone, must not overlap, must cover the whole, must be easier than the whole, and none may be the',
  'whole again. A slice under the name of a declared part is that part as its author wrote it; when parts are declared, all of',
  'them must be there. "reasoning" says why, in a few sentences; "confidence" is high, medium or low.',
].join('\n');

const lens = (name: string, view: string): Lens => ({
  name,
  instructions: [
    'A task is stuck. You propose how to cut it into smaller ones; you run nothing, and others check your proposal.',
    view,
    SHAPE,
    ABOUT_FENCES,
  ].join('\n'),
});

/** In the order in which they are preferred when they are equally sure. Source: docs/rules.md (Council). */
export const LENSES: readonly Lens[] = [
  lens(
    'failing part',
    'Your lens: isolate what fails. Put what works, or can be made to work at once, on one side, and the smallest part that holds the failure on the other.',
  ),
  lens(
    'vertical slices',
    'Your lens: vertical slices. Each slice is a thin piece of behaviour from end to end that can be verified and shipped by itself.',
  ),
  lens(
    'architecture',
    'Your lens: the architecture. Cut along modules, layers and interfaces that exist, so that each slice stays on one side of a boundary.',
  ),
];

export const REVIEWER = [
  'You are the adversary of a proposal to cut a task that is stuck into smaller ones. You did not make it and are not told why it',
  'was made. Look for a reason why it would not do: a slice that can not be shipped alone, two that touch the same, something of',
  'the whole that no slice does, a slice as hard as the whole, a slice that is the whole again or another one again, a check that',
  'holds whatever is done, or a check that was weakened.',
  'Answer with a JSON object: "verdict" is approve (you found nothing that matters), revise (it can be mended) or reject;',
  '"confidence" is high, medium or low; "reasons" are short sentences, each about one slice or one gap.',
  ABOUT_FENCES,
].join('\n');

const LONGEST = 16_000;
const LONGEST_DOCUMENT = 4_000;

/** Long text is told by its start, and said to be cut. */
const bounded = (text: string, most = LONGEST): string =>
  text.length <= most ? text : `${text.slice(0, most).toWellFormed()}\n[cut: ${text.length} characters in all]`;

const part = (title: string, name: string, text: string): string[] =>
  text === '' ? [] : [`${title}:\n${fenced(name, bounded(text))}`];

const nodeText = ({ recipe, postcondition }: NodeSpec): string => JSON.stringify({ recipe, postcondition }, null, 1);

const unitParts = ({ intent, goal, node, declared_parts, budget }: CouncilRequest): string[] => [
  ...part('The whole task', 'intent', intent),
  ...part('The goal of what is stuck', 'goal', goal),
  ...(node === null ? [] : part('The step that is stuck, with its check', 'step', nodeText(node))),
  ...(declared_parts === null
    ? []
    : part(
        'Parts that its author declared',
        'parts',
        JSON.stringify(declared_parts.map(({ name, goal: of, paths }) => ({ name, goal: of, paths }))),
      )),
  `At most ${Math.min(6, budget.children_left)} slices.`,
];

/** Everything that is known of the unit, what others wrote between fences. */
export const directionPrompt = (question: CouncilQuestion): string => {
  const { request, changed, patch, findings, detail, documents, objections } = question;
  return [
    ...unitParts(request),
    `It stopped as ${request.raw_halt_type}.`,
    ...part('What failed before, and must not be repeated', 'failures', JSON.stringify(request.failures)),
    ...part('What the last run said', 'detail', detail),
    ...(findings.length === 0 ? [] : part('What judges found', 'findings', JSON.stringify(findings))),
    ...part('Files that differ so far', 'changed', changed.join('\n')),
    ...part('The diff so far', 'diff', patch ?? ''),
    ...documents.map(
      ({ path, text }) =>
        `A document of the workspace:\n${fenced('document', bounded(`${path}\n${text}`, LONGEST_DOCUMENT))}`,
    ),
    ...part('A human says where to cut', 'hint', request.hint ?? ''),
    ...part('Objections to an earlier proposal, to be met', 'objections', objections.join('\n')),
  ].join('\n\n');
};

/** The unit and the slices; nothing of the reasoning behind them. */
export const reviewPrompt = ({ request, slices }: ReviewQuestion): string => {
  const shown = slices.map(({ name, goal, paths, salvage, nodes }) => ({
    ...{ name, goal, paths, salvage },
    steps: nodes.map(({ goal: of, recipe, postcondition }) => ({ goal: of, recipe, check: postcondition })),
  }));
  return [...unitParts(request), ...part('The proposal', 'slices', JSON.stringify(shown, null, 1))].join('\n\n');
};
