import type { TaskSpec } from '@fixpoint/contracts/documents/task';
import { keptPathSchema } from '@fixpoint/contracts/workspace';
import { type Diagnostic, diagnostic } from './diagnostics.ts';
import { type Finding, found, under } from './lint/finding.ts';
import { type KnownPrimitives, unknownName } from './lint/known-names.ts';
import { lintData } from './lint/lint-data.ts';
import { lintNode, type WrittenNode } from './lint/lint-node.ts';
import { lintParts } from './lint/lint-parts.ts';
import { pathOfNode } from './lint/node-path.ts';
import { holdsUnknown, sampledNodes } from './lint/sampled-nodes.ts';
import type { NodeDocument, TaskDocument } from './task-document.ts';
import type { SourceText } from './text/source-text.ts';

/** Lowest priority that is still dispatched. Source: docs/rules.md (Rank). */
const VIABILITY_THRESHOLD = -5;

/** What the document is checked against; names that are not in these lists are unknown. */
export interface LintOptions {
  readonly knownPrimitives: KnownPrimitives;
  /** Null: any may be there. */
  readonly knownModels: readonly string[] | null;
  /** Models that can act as an agent; null: any may. */
  readonly knownAgents: readonly string[] | null;
  /** Modes of the protocol that the task would run under; null when that is not known here. */
  readonly knownModes: readonly string[] | null;
  /** A server has no folder that a path could be relative to; the command line makes paths absolute first. */
  readonly relativeGitUrl: 'allowed' | 'refused';
}

export interface LintableTask {
  readonly spec: TaskSpec;
  readonly document: TaskDocument;
  readonly source: SourceText;
}

/** Every rule that looks at a whole, well-formed task, in the order of the text. Errors stop admission. */
export const lintTask = (task: LintableTask, options: LintOptions): Diagnostic[] =>
  findingsOf(task, options)
    .map(({ code, path, ...text }) => diagnostic(code, task.source.locate(path), text))
    .sort((a, b) => a.line - b.line || a.column - b.column);

const findingsOf = ({ spec, document }: LintableTask, options: LintOptions): Finding[] => [
  ...(spec.priority < VIABILITY_THRESHOLD ? [found('FX111', ['priority'])] : []),
  ...lintMode(spec, options.knownModes),
  ...lintGitUrl(spec, options),
  ...lintKeep(spec),
  ...lintDelivery(spec),
  ...lintWork({ spec, document }, options),
  ...lintParts({ spec, document }, (part) => lintWork(part, options)),
];

/** What is run, and what passes between its nodes: of a task, or of a part of it. */
const lintWork = ({ spec, document }: Pick<LintableTask, 'spec' | 'document'>, options: LintOptions): Finding[] => [
  ...lintData(spec, document),
  ...spec.nodes.flatMap((_, index) => {
    const path = pathOfNode(document, index);
    return [...under(path, lintFilled(spec, document, { index, options })), ...duplicateId(spec, index)];
  }),
];

/** A node that takes data is looked at with values of the right types; what only some of them break is no mistake. */
const lintFilled = (
  spec: TaskSpec,
  document: TaskDocument,
  { index, options }: { readonly index: number; readonly options: LintOptions },
): Finding[] => {
  const written = writtenNode(document, index);
  const tried = sampledNodes(spec, index).map((node) => lintNode(node, written, withUnknown(options)));
  return tried.reduce((least, findings) => (findings.length < least.length ? findings : least));
};

/** Parameters with a value of which nothing is known can not be judged before it is. */
const withUnknown = (options: LintOptions): LintOptions => ({
  ...options,
  knownPrimitives: {
    ...options.knownPrimitives,
    problems: (name, parameters) =>
      holdsUnknown(parameters) ? [] : options.knownPrimitives.problems(name, parameters),
  },
});

const lintMode = ({ mode }: TaskSpec, known: readonly string[] | null): Finding[] =>
  known === null ? [] : unknownName({ code: 'FX120', path: ['mode'], what: 'mode', name: mode }, known);

const lintGitUrl = ({ workspace }: TaskSpec, { relativeGitUrl }: LintOptions): Finding[] =>
  relativeGitUrl === 'refused' && workspace.git !== null && isRelativeGitUrl(workspace.git.url)
    ? [found('FX114', ['workspace', 'git', 'url'])]
    : [];

const lintKeep = ({ workspace }: TaskSpec): Finding[] =>
  workspace.keep.flatMap((path, index) => {
    const at = ['workspace', 'keep', index];
    if (!keptPathSchema.safeParse(path).success) return [found('FX121', at)];
    return /[*?[]/.test(path) ? [found('FX122', at)] : [];
  });

const lintDelivery = ({ workspace: { git }, deliver }: TaskSpec): Finding[] => {
  if (deliver === undefined) return [];
  if (git === null) return [found('FX125', ['deliver'])];
  return git.ref.replace(/^refs\/heads\//, '') === deliver.branch ? [found('FX126', ['deliver', 'branch'])] : [];
};

/** Neither `scheme://…`, nor `host:path`, nor an absolute path. A colon after a slash belongs to a path, as git reads it. */
export const isRelativeGitUrl = (url: string): boolean =>
  !/^[a-z][a-z0-9+.-]*:\/\//i.test(url) && !url.startsWith('/') && !/^[^/]+:/.test(url);

const duplicateId = ({ nodes }: TaskSpec, index: number): Finding[] => {
  const first = nodes.findIndex(({ id }) => id === nodes[index]?.id);
  const message = `Node ${index + 1} has the id of node ${first + 1}.`;
  return first < index ? [found('FX107', ['nodes', index, 'id'], { message })] : [];
};

const writtenNode = (document: TaskDocument, index: number): WrittenNode => {
  const node = 'nodes' in document ? document.nodes[index] : document;
  const { postcondition, recovery, outputs } = node ?? {};
  return {
    hasOutputs: outputs !== undefined,
    hasOutputSchema: outputs?.json_schema !== undefined,
    hasRecovery: recovery !== undefined && asksForRecovery(recovery),
    postconditionIsList: postcondition !== undefined && 'all' in postcondition,
  };
};

const asksForRecovery = (recovery: NonNullable<NodeDocument['recovery']>): boolean =>
  (recovery.max_repair_attempts ?? 0) > 0 ||
  (recovery.max_agent_attempts ?? 0) > 0 ||
  recovery.model !== undefined ||
  (recovery.agent_tools ?? []).length > 0;
