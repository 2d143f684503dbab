import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A pipe whose write end is given to a process; the caller reads the other one. */
export interface OutputPipe {
  /** Descriptor for the process; close it here once the process has it, else the end is never seen. */
  readonly writeEnd: number;
  /** Ends when the last holder of the write end is gone. Read it by {@link chunksOf}. */
  readonly readEnd: Socket;
  /** What was read last; the next read fills it anew. */
  readonly buffer: Buffer;
  /** Resolves with the number of bytes now in the buffer; 0 at the end. */
  read(): Promise<number>;
  /** Its name in `/proc/<pid>/fd`. */
  readonly path: string;
}

/**
 * Two real pipes. Node gives a process socket pairs, and a socket cannot be opened again, so that
 * `echo oops > /dev/stderr` fails in a shell.
 * @param folder private to this command.
 */
export const openOutputPipes = async (folder: string): Promise<readonly [OutputPipe, OutputPipe]> => {
  const paths = [join(folder, 'stdout'), join(folder, 'stderr')] as const;
  await promisify(execFile)('mkfifo', ['-m', '600', ...paths]);
  return [openPipe(paths[0]), openPipe(paths[1])];
};

const openPipe = (path: string): OutputPipe => {
  // The reader first: opening a write end blocks until there is one.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writeEnd = openSync(path, constants.O_WRONLY);
  unlinkSync(path);
  return { writeEnd, path, ...bufferedReader(fd) };
};

const BUFFER_BYTES = 64 * 1024;

/** One buffer for all that is ever read: a new one for each read would be garbage faster than it is collected. */
const bufferedReader = (fd: number): Pick<OutputPipe, 'readEnd' | 'buffer' | 'read'> => {
  const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  let filled = Promise.withResolvers<number>();
  const callback = (bytes: number): boolean => {
    filled.resolve(bytes);
    // Nothing more until this was taken.
    return false;
  };
  const readEnd = new Socket({ fd, readable: true, writable: false, onread: { buffer, callback } });
  readEnd.once('error', (error) => filled.reject(error));
  readEnd.once('close', () => filled.resolve(0));
  let isFirst = true;
  const read = (): Promise<number> => {
    if (!isFirst && readEnd.destroyed) return Promise.resolve(0);
    if (!isFirst) filled = Promise.withResolvers<number>();
    isFirst = false;
    readEnd.resume();
    return filled.promise;
  };
  return { readEnd, buffer, read };
};

/** Gives the write ends up; a process that was started keeps its own copies. */
export const closeWriteEnds = (pipes: readonly OutputPipe[]): void => {
  for (const { writeEnd } of pipes) closeSync(writeEnd);
};

/**
 * What is read until the end, or until the read end is destroyed because somebody who cannot be killed holds the pipe.
 * A chunk holds until the next is asked for.
 */
export async function* chunksOf({ buffer, read }: OutputPipe): AsyncGenerator<Buffer> {
  for (let bytes = await read(); bytes > 0; bytes = await read()) yield buffer.subarray(0, bytes);
}
