#!/usr/bin/env node
import { EXIT } from './exit-codes.ts';
import { complaintOfNode } from './node-version.ts';
import { processTerminal } from './output/terminal.ts';
import { runProgram } from './program.ts';

const terminal = processTerminal(process);
const complaint = complaintOfNode(process.versions.node);
if (complaint !== null) {
  terminal.note(`fixpoint: ${complaint}`);
  process.exit(EXIT.failed);
}

const crash = (error: unknown): void => {
  const text = error instanceof Error ? error.message : String(error);
  terminal.note(`fixpoint: ${text}`);
  if (process.env.FIXPOINT_DEBUG === '1' && error instanceof Error) terminal.note(error.stack ?? '');
  process.exit(EXIT.failed);
};
process.on('uncaughtException', crash);
process.on('unhandledRejection', crash);

const exitCode = await runProgram(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  terminal,
  stdin: process.stdin,
  exitCode: EXIT.ok,
});
// Written text may still be on its way through a pipe; sockets kept alive for another request need not be waited for.
process.stdout.write('', () => process.exit(exitCode));
