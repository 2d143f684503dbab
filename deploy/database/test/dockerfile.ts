import { readFileSync } from 'node:fs';

export interface Instruction {
  /** `RUN`, `COPY`, … */
  readonly name: string;
  /** Flags as `--from=build`, without the dashes. */
  readonly flags: Readonly<Record<string, string>>;
  /** The rest, in one line; of a JSON form the words. */
  readonly words: readonly string[];
  readonly text: string;
}

export interface Stage {
  readonly name: string;
  /** An image, or an earlier stage. */
  readonly from: string;
  readonly instructions: readonly Instruction[];
}

/** The stages of the image, in order. Arguments are not replaced. */
export const dockerfile = (): readonly Stage[] => {
  const text = readFileSync(new URL('../../images/Dockerfile', import.meta.url), 'utf8');
  const lines = text
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const stages: { name: string; from: string; instructions: Instruction[] }[] = [];
  for (const instruction of lines.map(instructionOf)) {
    const [from = '', , name = ''] = instruction.words;
    if (instruction.name === 'FROM') stages.push({ name, from, instructions: [] });
    else stages.at(-1)?.instructions.push(instruction);
  }
  return stages;
};

const instructionOf = (line: string): Instruction => {
  const [, name = '', flagged = '', text = ''] = /^([A-Z]+)((?:\s+--\S+)*)\s+(.*)$/.exec(line) ?? [];
  const flags = Object.fromEntries(
    flagged
      .split(/\s+--/)
      .filter((flag) => flag !== '')
      .map((flag) => [flag.split('=', 1)[0] ?? '', flag.slice(flag.indexOf('=') + 1)]),
  );
  const words: string[] = text.startsWith('[') ? JSON.parse(text) : text.split(/\s+/);
  return { name, flags, words, text };
};
