import type { ChildProcess } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';

/** What a launcher says about its command. */
export interface Report {
  /** All of it; wait for it only when nobody is left who could write. */
  text(): Promise<string>;
  close(): void;
}

const NOTHING: Report = { text: async () => '', close: () => undefined };

/** A launcher that died does not read on; its exit tells. */
const ignoreBroken = (pipe: Duplex): Duplex => pipe.on('error', () => undefined);

/** Listens on descriptor 3 of a launcher and gives it its arguments on descriptor 4; null: the command has no launcher. */
export const openReport = (child: ChildProcess, hiddenArgs: readonly string[] | null): Report => {
  const [, , , from, to] = child.stdio as (Duplex | null | undefined)[];
  if (hiddenArgs === null || !from || !to) return NOTHING;
  ignoreBroken(to).end(hiddenArgs.map((each) => `${each}\0`).join(''));
  const said = text(ignoreBroken(from)).catch(() => '');
  return {
    text: () => said,
    close: () => {
      for (const pipe of [from, to]) pipe.destroy();
    },
  };
};
