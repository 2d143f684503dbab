import { loadPlaybook } from './load-playbook.ts';

/** The shipped rules as a page for people, in Markdown. Checked in as `docs/playbook.md`. */
export const playbookPage = (): string => {
  const rows = loadPlaybook().map(({ id, reasoning }) => `| \`${id}\` | ${reasoning.trim().replaceAll('|', '\\|')} |`);
  return `${[INTRODUCTION, ['| rule | what went wrong, and what is done about it |', '| --- | --- |', ...rows].join('\n')].join('\n\n')}\n`;
};

const INTRODUCTION = `# Playbook

The rules of the repair model \`default\`: failures of a command that say nothing about its goal, and the command that is
tried instead. A rule recognises a failure by what the command is and what it printed; the first one that fits proposes. What
it proposes is gated, run, recorded and judged like any command. No rule takes a check away or passes over a refusal: what
must hold for a correction to be right is a part of the corrected command. [Rules of your own](../libs/models/README.md) are
tried first. \`npm run generate\` writes this page.`;
