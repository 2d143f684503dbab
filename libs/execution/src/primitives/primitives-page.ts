import { parameterList } from './parameter-list.ts';
import type { Primitive } from './primitive.ts';
import { primitives } from './primitives.ts';

/** The catalogue of primitives as a page for people, in Markdown. Checked in as `docs/primitives.md`. */
export const primitivesPage = (): string =>
  [INTRODUCTION, table([...primitives.values()]), ...[...primitives.values()].map(section)].join('\n\n').concat('\n');

const INTRODUCTION = `# Primitives

Steps and checks that ship with Fixpoint. A recipe, a postcondition or a fix names one with \`primitive\` and gives its
parameters as \`with\`; \`fixpoint primitive\` runs them from the command line. A step may be run again: what is done
already stays as it is. It promises its own check, and writes a file all at once: after a crash there is the old one or
the new one. \`npm run generate\` writes this page.

Paths are relative to the workspace, with \`/\` between parts, never into \`.git\`, and no link is followed. In \`exclude\` a
path stands for itself anywhere, with a leading slash from the top; \`*\` stays within one part. Patterns are JavaScript's
with flag \`u\` and get a quarter of a second. Texts are UTF-8 and at most 16 MiB; only \`sha256\`, \`copy-tree\` and
\`trees-equal\` take files of any size. Nothing else may work in the folder at the same time.`;

const cell = (text: string): string => text.replaceAll('|', '\\|');

const row = (...cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;

const table = (all: readonly Primitive[]): string =>
  [
    row('primitive', 'kind', 'promises'),
    row('---', '---', '---'),
    ...all.map((each) => row(`[\`${each.name}\`](#${each.name})`, each.effects ? 'step' : 'check', promised(each))),
  ].join('\n');

const promised = ({ check }: Primitive): string => (check === null ? '' : `\`${check}\``);

const section = (primitive: Primitive): string =>
  [
    `## ${primitive.name}`,
    primitive.description,
    [
      row('parameter', 'type', 'default', 'meaning'),
      row('---', '---', '---', '---'),
      ...parameterList(primitive).map(({ name, type, required, fallback, about }) => {
        const otherwise = fallback === null ? 'none' : `\`${JSON.stringify(fallback)}\``;
        return row(`\`${name}\``, type, required ? 'needed' : otherwise, about);
      }),
    ].join('\n'),
  ].join('\n\n');
