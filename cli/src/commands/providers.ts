import { type ProviderState, providerStatusSchema, type ResumedProvider } from '@fixpoint/contracts/rest/providers';
import { type Command, Option } from 'commander';
import { type ConnectionOptions, connectionOf, withConnection } from '../connection.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { oneLine } from '../output/printable.ts';
import { table } from '../output/table.ts';
import { allOf, everyItem, PAGE } from '../pages.ts';

interface ListOptions extends ConnectionOptions {
  readonly status?: string;
}

/** `fixpoint providers [list] | resume` */
export const addProviders = (program: Command, context: Context): void => {
  const providers = program
    .command('providers')
    .description('models and hosts that many lineages ask, and which of them are paused (each takes --json)');
  addList(providers, context);
  withConnection(providers.command('resume'))
    .description('have a paused provider probed at once; what waits for it goes on when the probe meets no fault')
    .argument('<provider>', 'git.HOST or model.NAME')
    .option('--reason <text>', 'why; kept with who did it')
    .action(async (provider: string, options: ConnectionOptions & { readonly reason?: string }) => {
      const client = await connectionOf(options, context);
      const resumed = await client.resumeProvider(provider, { reason: options.reason ?? '' });
      if (options.json === true) context.terminal.json(resumed);
      else context.terminal.print(resumedLine(resumed));
      context.exitCode = EXIT.ok;
    });
};

const resumedLine = ({ provider, changed }: ResumedProvider): string =>
  changed ? `${provider}: the next run that needs it probes it` : `${provider}: not paused, or being probed already`;

const addList = (providers: Command, context: Context): void => {
  withConnection(providers.command('list', { isDefault: true }))
    .description('list providers that runs met faults of, the last one first')
    .addOption(new Option('--status <status>', 'only these').choices(providerStatusSchema.options))
    .action(async (options: ListOptions) => {
      const client = await connectionOf(options, context);
      const status = providerStatusSchema.optional().parse(options.status);
      const found = await allOf(everyItem((cursor) => client.providers({ status, limit: PAGE, ...cursor })));
      if (options.json === true) for (const provider of found) context.terminal.json(provider);
      else context.terminal.print(found.length === 0 ? 'no providers' : providerTable(found));
      context.exitCode = EXIT.ok;
    });
};

const DETAIL = 60;

const providerTable = (providers: readonly ProviderState[]): string =>
  table(
    ['provider', 'status', 'until', 'pauses', 'class', 'reason', 'detail'],
    providers.map((each) => [
      ...[each.provider, each.status, each.paused_until ?? '-', String(each.count), each.class, each.reason ?? '-'],
      oneLine(each.detail, DETAIL),
    ]),
  );
