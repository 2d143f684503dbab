import type { CommandRule } from '@fixpoint/contracts/documents/protocol';
import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import type { Slice } from '@fixpoint/contracts/events/decomposer-events';
import { diagnosticCatalogue } from '@fixpoint/documents/diagnostics';
import { lintNode } from '@fixpoint/documents/lint/lint-node';
import { knownPrimitives } from '@fixpoint/execution/primitives/primitives';
import { evaluateCommandRules } from '@fixpoint/validation/command-rules';

/** Objections to what slices would run: what the lint refuses in a document, and what the mode's rules would deny. */
export const unsoundNodes = (slices: readonly Slice[], rules: readonly CommandRule[]): string[] =>
  slices.flatMap(({ name, nodes }) =>
    nodes.flatMap((node, at) =>
      [...sameId(nodes, at), ...lintErrors(node), ...commandsOf(node).flatMap((text) => denial(text, rules))].map(
        (problem) => `${name}: ${problem}`,
      ),
    ),
  );

const sameId = (nodes: readonly NodeSpec[], at: number): string[] =>
  nodes.findIndex(({ id }) => id === nodes[at]?.id) < at ? [`two nodes are called ${nodes[at]?.id}`] : [];

const lintErrors = (node: NodeSpec): string[] => {
  const written = {
    hasRecovery: node.policy === 'recover',
    postconditionIsList: true,
    hasOutputSchema: false,
    hasOutputs: node.output_file !== undefined,
  };
  return lintNode(node, written, { knownPrimitives, knownModels: null, knownAgents: null })
    .filter(({ code }) => diagnosticCatalogue[code].severity === 'error')
    .map(({ code, message }) => message ?? diagnosticCatalogue[code].meaning);
};

const commandsOf = ({ recipe, postcondition }: NodeSpec): string[] => [
  ...('command' in recipe ? [recipe.command] : []),
  ...(postcondition?.all ?? []).flatMap((check) => ('command' in check ? [check.command] : [])),
];

const denial = (text: string, rules: readonly CommandRule[]): string[] => {
  const ruling = evaluateCommandRules(rules, { rung: 'recipe', text });
  return ruling.denied ? [`${ruling.rule} denies a command: ${ruling.message}`] : [];
};
