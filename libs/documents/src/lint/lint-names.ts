import type { TaskSpec } from '@fixpoint/contracts/documents/task';
import { closestWord } from '../text/closest-word.ts';
import { type Finding, found } from './finding.ts';

const suggestion = (name: string, known: readonly string[]): { hint?: string } => {
  const meant = closestWord(name, known);
  return meant === null ? {} : { hint: `Did you mean \`${meant}\`?` };
};

/** Whether the task has an input of that name. */
export const knownInput = ({ inputs = {} }: TaskSpec, name: string): Finding[] => {
  if (Object.hasOwn(inputs, name)) return [];
  const known = Object.keys(inputs);
  const message = `The task has no input \`${name}\`; it has: ${known.join(', ') || 'none'}.`;
  return [found('FX132', [], { message, ...suggestion(name, known) })];
};

/** Whether a node of that id stands before the one at `index`. */
export const earlierNode = ({ nodes }: TaskSpec, id: string, index: number): Finding[] => {
  const at = nodes.findIndex((node) => node.id === id);
  if (at !== -1 && at < index) return [];
  const earlier = nodes.slice(0, index).map((node) => node.id);
  const why = at === -1 ? 'There is no node' : at === index ? 'A node does not know itself:' : 'Later than this node:';
  const message = `${why} \`${id}\`; before it there is: ${earlier.join(', ') || 'none'}.`;
  return [found('FX133', [], { message, ...(at === -1 ? suggestion(id, earlier) : {}) })];
};
