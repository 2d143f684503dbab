import { type EscalateInput, escalateSchema } from '@fixpoint/contracts/rest/escalations';
import { readSource } from '@fixpoint/documents/text/source-text';
import type { Command } from 'commander';
import { type ConnectionOptions, connectionOf, withConnection } from '../connection.ts';
import type { Context } from '../context.ts';
import { EXIT, Exit } from '../exit-codes.ts';
import { diagnosticText } from '../failure.ts';
import { readDocument } from '../read-document.ts';

/** `fixpoint escalate FILE` */
export const addEscalate = (program: Command, context: Context): void => {
  withConnection(program.command('escalate'))
    .description('hand over work that somebody could not finish')
    .argument('<file>', 'what, stage, diagnosis, findings, task… as YAML or JSON; - reads standard input')
    .option('--key <key>', 'sending it again under the same key is harmless')
    .action(async (file: string, options: ConnectionOptions & { readonly key?: string }) => {
      const { text } = await readDocument(file, context);
      const escalation = escalationIn(text, file);
      const keyed = options.key === undefined ? escalation : { ...escalation, idempotency_key: options.key };
      const submitted = await (await connectionOf(options, context)).escalate(keyed);
      for (const each of submitted.diagnostics) context.terminal.note(diagnosticText(file, each));
      if (options.json === true) context.terminal.json(submitted);
      else context.terminal.print(submitted.lineage);
      context.exitCode = EXIT.ok;
    });
};

const escalationIn = (text: string, file: string): EscalateInput => {
  const { source, diagnostics } = readSource(text);
  const [unreadable] = diagnostics;
  if (source === null) throw new Exit(EXIT.badInput, unreadable ? diagnosticText(file, unreadable) : `${file}: empty`);
  const checked = escalateSchema.safeParse(source.value);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  throw new Exit(EXIT.badInput, `${file}: ${issue?.path.join('.') || 'the document'}: ${issue?.message}`);
};
