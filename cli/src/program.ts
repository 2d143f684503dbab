import { Command } from 'commander';
import { addCancel } from './commands/cancel.ts';
import { addDecide } from './commands/decide.ts';
import { addDemo } from './commands/demo.ts';
import { addDlq } from './commands/dlq.ts';
import { addEscalate } from './commands/escalate.ts';
import { addEvents } from './commands/events.ts';
import { addHandoffs } from './commands/handoffs.ts';
import { addLint } from './commands/lint.ts';
import { addPrimitive } from './commands/primitive.ts';
import { addPrint } from './commands/print.ts';
import { addProjections } from './commands/projections.ts';
import { addProtocol } from './commands/protocol.ts';
import { addProviders } from './commands/providers.ts';
import { addPublish } from './commands/publish.ts';
import { addResult } from './commands/result.ts';
import { addStore } from './commands/store.ts';
import { addSubmit } from './commands/submit.ts';
import { addTree } from './commands/tree.ts';
import { addUp } from './commands/up.ts';
import { addWatch } from './commands/watch.ts';
import type { Context } from './context.ts';
import { EXIT_CODES_HELP } from './exit-codes.ts';
import { failureOf } from './failure.ts';
import { version } from './version.ts';

const COMMANDS = [
  addUp,
  addDemo,
  addSubmit,
  addEscalate,
  addWatch,
  addTree,
  addEvents,
  addResult,
  addCancel,
  addLint,
  addPrint,
  addPrimitive,
  addPublish,
  addProtocol,
  addProjections,
  addStore,
  addProviders,
  addDlq,
  addHandoffs,
  addDecide,
];

/** Every command, with its arguments and options. */
const program = (context: Context): Command => {
  const { terminal } = context;
  const root = new Command('fixpoint')
    .description('Drives work to a fixpoint: governed, verified, repaired, audited.')
    .version(version(), '-V, --version', 'print the version of this program')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.note(text.trimEnd()),
      // What is wrong with the arguments is said once, where every failure is.
      outputError: () => undefined,
    })
    .addHelpText('after', EXIT_CODES_HELP);
  for (const add of COMMANDS) add(root, context);
  return root;
};

/** Runs one command line. @param args without Node and script. @returns the exit code; never throws */
export const runProgram = async (args: readonly string[], context: Context): Promise<number> => {
  try {
    await program(context).parseAsync([...args], { from: 'user' });
    return context.exitCode;
  } catch (error) {
    const { code, text } = failureOf(error);
    if (text !== '') context.terminal.note(`fixpoint: ${text}`);
    if (context.env.FIXPOINT_DEBUG === '1' && error instanceof Error) context.terminal.note(traceOf(error));
    return code;
  }
};

const traceOf = (error: Error): string => {
  const cause = error.cause instanceof Error ? `\ncaused by ${traceOf(error.cause)}` : '';
  return `${error.stack ?? error.message}${cause}`;
};
