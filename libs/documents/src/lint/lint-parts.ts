import { overlap } from '@fixpoint/contracts/documents/glob';
import type { PartSpec, TaskSpec } from '@fixpoint/contracts/documents/task';
import type { PartDocument, TaskDocument } from '../task-document.ts';
import { type Finding, found, under } from './finding.ts';

interface Work {
  readonly spec: TaskSpec;
  readonly document: TaskDocument;
}

/** Splits of splits that a mode can allow at most. */
const MAX_NESTING = 5;

/**
 * Declared parts, each looked at as the task that it may become: it has the inputs of the whole and nothing of its nodes.
 * Source: docs/tasks.md (Parts).
 */
export const lintParts = (whole: Work, lintWork: (part: Work) => Finding[], nesting = 1): Finding[] =>
  (whole.document.parts ?? []).flatMap((document, index) => {
    const spec = whole.spec.parts?.[index];
    if (spec === undefined) return [];
    const part = asTask(whole, spec, document);
    const findings = [...lintWork(part).filter(isOfThePart), ...lintParts(part, lintWork, nesting + 1)];
    return under(
      ['parts', index],
      [
        ...[...findings, ...sameName(whole.spec.parts ?? [], index), ...strayPaths(spec)],
        ...[...sharedPaths(whole.spec.parts ?? [], index), ...tooDeep(nesting)],
      ],
    );
  });

/** An input that this part leaves to others is no mistake. */
const isOfThePart = ({ code }: Finding): boolean => code !== 'FX141';

const asTask = ({ spec, document }: Work, part: PartSpec, written: PartDocument): Work => {
  const { paths: _, ...body } = written;
  const { inputs } = document;
  return {
    spec: { ...spec, name: part.name, goal: part.goal, nodes: part.nodes, parts: part.parts },
    document: { kind: document.kind, ...(inputs === undefined ? {} : { inputs }), ...body } as TaskDocument,
  };
};

const sameName = (parts: readonly PartSpec[], index: number): Finding[] => {
  const first = parts.findIndex(({ name }) => name === parts[index]?.name);
  const message = `Part ${index + 1} has the name of part ${first + 1}.`;
  return first < index ? [found('FX123', ['name'], { message })] : [];
};

/** Globs are compared as they are written: two parts that name one file in two ways would both get it. */
const strayPaths = ({ paths }: PartSpec): Finding[] =>
  paths.flatMap((path, index) =>
    path.split('/').some((step, at) => step === '..' || step === '.' || (step === '' && at === 0))
      ? [found('FX127', ['paths', index])]
      : [],
  );

/** Told where it is written, and not only when the unit has stalled and nobody may cut it. */
const sharedPaths = (parts: readonly PartSpec[], index: number): Finding[] => {
  const others = parts.slice(0, index);
  return (parts[index]?.paths ?? []).flatMap((path, at) => {
    const other = others.find(({ paths }) => paths.some((its) => overlap(path, its)));
    const message = `Part ${other?.name} may touch ${path}, too.`;
    return other === undefined ? [] : [found('FX128', ['paths', at], { message })];
  });
};

const tooDeep = (nesting: number): Finding[] => (nesting > MAX_NESTING ? [found('FX124', ['name'])] : []);
