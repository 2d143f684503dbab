import { jsonLine, printable } from './printable.ts';

/** Where a command says what it has to say. Nothing that it is given can steer the terminal. */
export interface Terminal {
  /** Whether a person watches, so that lines may be drawn over. */
  readonly isInteractive: boolean;
  /** Aborted when nobody reads any more (`fixpoint events … | head`). */
  readonly gone: AbortSignal;
  /** The answer: on stdout, with a newline. */
  print(text: string): void;
  /** The same without a newline, for texts that come in pieces. */
  printPiece(text: string): void;
  /** The answer for programs: one line of JSON on stdout. */
  json(value: unknown): void;
  /** Beside the answer: on stderr. */
  note(text: string): void;
}

/** Columns; some terminals without a window say that they have none, and drawn lines would be cut to nothing. */
const NARROWEST = 40;

export interface Streams {
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}

/** The terminal of this process. A reader that goes away is no failure: `gone` says so and the rest is not written. */
export const processTerminal = ({ stdout, stderr }: Streams): Terminal => {
  const gone = new AbortController();
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    gone.abort();
  });
  stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  const write = (text: string): void => {
    if (!gone.signal.aborted) stdout.write(text);
  };
  return {
    isInteractive: Boolean(stdout.isTTY && stderr.isTTY) && stdout.columns >= NARROWEST,
    gone: gone.signal,
    print: (text) => write(`${printable(text)}\n`),
    printPiece: (text) => write(printable(text)),
    json: (value) => write(`${jsonLine(value)}\n`),
    note: (text) => void stderr.write(`${printable(text)}\n`),
  };
};
