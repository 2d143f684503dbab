import { type DecisionKind, decisionKindSchema } from '@fixpoint/contracts/human-decision';
import { type AskedDecision, askedDecisionSchema, type DecidedHandoff } from '@fixpoint/contracts/rest/handoffs';
import { Argument, type Command } from 'commander';
import { type ConnectionOptions, connectionOf, withConnection } from '../connection.ts';
import type { Context } from '../context.ts';
import { EXIT, Exit } from '../exit-codes.ts';
import { readDocument } from '../read-document.ts';

interface DecideOptions extends ConnectionOptions {
  readonly fromNode?: string;
  readonly spec?: string;
  readonly validator?: string[];
  readonly hint?: string;
  readonly ref?: string;
  readonly exclude?: string[];
  readonly limit?: string[];
  readonly seen?: string;
  readonly comment?: string;
  readonly dryRun?: boolean;
}

/** `fixpoint decide HANDOFF DECISION` */
export const addDecide = (program: Command, context: Context): void => {
  withConnection(program.command('decide'))
    .description('decide what a human was asked for')
    .argument('<handoff>', 'id of a handoff')
    .addArgument(new Argument('<decision>', 'what is to be done').choices(decisionKindSchema.options))
    .option('--from-node <id>', 'retry: begin with this node')
    .option('--spec <file>', 'amend: a task/v1 document whose nodes take the place of the old ones')
    .option('--validator <id...>', 'approve, override: only these; all that stand in the handoff by default')
    .option('--hint <text>', 'split: what the council should know')
    .option('--ref <ref>', 'resolve: a git ref of the source where it is done')
    .option('--exclude <child...>', 'resolve: children that count no longer')
    .option('--limit <name=value...>', 'extend: new absolute limits, such as iterations=80')
    .option('--seen <version>', 'version of the handoff that was looked at; the newest by default')
    .option('--comment <text>', 'kept with the decision')
    .option('--dry-run', 'say what would follow, and do nothing')
    .action(async (handoff: string, kind: DecisionKind, options: DecideOptions) => {
      const client = await connectionOf(options, context);
      const body = {
        version: options.seen === undefined ? (await client.handoff(handoff)).version : Number(options.seen),
        decision: await asked(kind, options, context),
        ...(options.comment === undefined ? {} : { comment: options.comment }),
      };
      const decided = await client.decideHandoff(handoff, body, options.dryRun === true);
      if (options.json === true) context.terminal.json(decided);
      else context.terminal.print(decidedText(decided));
      context.exitCode = EXIT.ok;
    });
};

const asked = async (kind: DecisionKind, options: DecideOptions, context: Context): Promise<AskedDecision> => {
  const document = options.spec === undefined ? undefined : (await readDocument(options.spec, context)).text;
  const given = {
    ...{ kind, from_node: options.fromNode, document, validators: options.validator },
    ...{ hint: options.hint, ref: options.ref, exclude_children: options.exclude },
    limits: options.limit && limitsIn(options.limit),
  };
  const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const parsed = askedDecisionSchema.safeParse(said);
  if (parsed.success) return parsed.data;
  throw new Exit(
    EXIT.badInput,
    `${kind} is not said like that: ${parsed.error.issues[0]?.message ?? 'it does not fit'}`,
  );
};

/** What is no number is refused like anything else that does not fit. */
const limitsIn = (said: readonly string[]): Record<string, number> =>
  Object.fromEntries(
    said.map((each) => {
      const at = each.indexOf('=');
      return [each.slice(0, Math.max(0, at)), at === -1 ? Number.NaN : Number(each.slice(at + 1))];
    }),
  );

const decidedText = ({ handoff, decision, dry_run, changed, events }: DecidedHandoff): string => {
  const said = dry_run ? 'would decide' : changed ? 'decided' : 'had been decided';
  return [`${handoff}: ${said}: ${decision.kind}`, ...events.map(({ type }) => `  ${type}`)].join('\n');
};
