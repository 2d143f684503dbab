import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { readSource } from '@fixpoint/documents/text/source-text';
import { hostGit } from '@fixpoint/execution/git';
import { parameterList, parametersSchema } from '@fixpoint/execution/primitives/parameter-list';
import type { Primitive, PrimitiveContext, PrimitiveResult } from '@fixpoint/execution/primitives/primitive';
import { primitives } from '@fixpoint/execution/primitives/primitives';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { EXIT, Exit } from '../exit-codes.ts';
import { table } from '../output/table.ts';
import { readDocument } from '../read-document.ts';

interface PrimitiveOptions {
  readonly with?: string;
  readonly check?: boolean;
  readonly describe?: boolean;
  readonly in?: string;
  readonly json?: boolean;
}

/** `fixpoint primitive [NAME]` */
export const addPrimitive = (program: Command, context: Context): void => {
  program
    .command('primitive')
    .description('list the primitives, describe one, run it on a folder, or only check what it promises')
    .argument('[name]', 'which one; without it, the list')
    .option('--with <parameters>', 'its parameters as YAML or JSON: a text, @FILE, or - for standard input', '{}')
    .option('--in <folder>', 'the folder that it works on (default: the working folder)')
    .option('--check', 'change nothing: only ask whether what it promises holds')
    .option('--describe', 'say what it does and takes')
    .option('--json', 'answer with JSON')
    .action(async (name: string | undefined, options: PrimitiveOptions) => {
      if (name === undefined) return list(options, context);
      const primitive = primitiveOf(name);
      if (options.describe === true) return describe(primitive, options, context);
      return use(primitive, options, context);
    });
};

const primitiveOf = (name: string): Primitive => {
  const found = primitives.get(name);
  if (found !== undefined) return found;
  throw new Exit(EXIT.badInput, `there is no primitive ${name}`, '`fixpoint primitive` lists them');
};

const summaryOf = ({ name, effects, check, description }: Primitive) => ({
  name,
  kind: effects ? 'step' : 'check',
  check,
  description,
});

const list = ({ json }: PrimitiveOptions, { terminal }: Context): void => {
  const all = [...primitives.values()].map(summaryOf);
  if (json === true) terminal.json(all);
  else
    terminal.print(
      table(
        ['primitive', 'kind', 'what it does'],
        all.map((each) => [each.name, each.kind, each.description]),
      ),
    );
};

const describe = (primitive: Primitive, { json }: PrimitiveOptions, { terminal }: Context): void => {
  if (json === true) {
    terminal.json({ ...summaryOf(primitive), parameters: parametersSchema(primitive) });
    return;
  }
  const rows = parameterList(primitive).map(({ name, type, required, fallback, about }) => [
    name,
    type,
    required ? 'needed' : fallback === null ? '' : `default ${JSON.stringify(fallback)}`,
    about,
  ]);
  const promise = primitive.check === null ? [] : [`Afterwards ${primitive.check} holds.`];
  const parameters = table(['parameter', 'type', '', 'meaning'], rows);
  terminal.print([primitive.description, ...promise, '', parameters].join('\n'));
};

/** What became of a primitive: `met` and `unmet` are verdicts of its check; `failed`: the step itself said no. */
interface Used extends PrimitiveResult {
  readonly outcome: 'met' | 'unmet' | 'failed';
}

const use = async (primitive: Primitive, options: PrimitiveOptions, context: Context): Promise<void> => {
  const parameters = await parametersOf(options.with ?? '{}', context);
  const problems = primitive.problems(parameters);
  if (problems.length > 0) {
    throw new Exit(EXIT.badInput, `${primitive.name}: ${problems.join('; ')}`, '--describe says what it takes');
  }
  const folder = await folderOf(options.in ?? '.', context);
  const used = await withGit(context, (git) => {
    const setting = { folder, scratch: new Map<string, number>(), git, signal: context.terminal.gone };
    return options.check === true ? checked(primitive, parameters, setting) : done(primitive, parameters, setting);
  });
  const { outcome, output, detail } = used;
  if (options.json === true) context.terminal.json({ primitive: primitive.name, outcome, output, detail });
  else context.terminal.print(detail);
  context.exitCode = outcome === 'met' ? EXIT.ok : EXIT.failed;
};

const folderOf = async (given: string, { cwd }: Context): Promise<string> => {
  const folder = resolve(cwd, given);
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory() !== true) throw new Exit(EXIT.badInput, `${given} is no folder`, '--in names one');
  return folder;
};

/** The step, and then what it promises: only that is success. */
const done = async (primitive: Primitive, parameters: unknown, setting: PrimitiveContext): Promise<Used> => {
  if (!primitive.effects) return checked(primitive, parameters, setting);
  const result = await primitive.run(setting, parameters);
  if (!result.ok) return { ...result, outcome: 'failed' };
  const verdict = await checked(primitive, parameters, setting);
  return verdict.ok ? { ...result, outcome: 'met' } : verdict;
};

const checked = async (primitive: Primitive, parameters: unknown, setting: PrimitiveContext): Promise<Used> => {
  const promised = primitive.postcondition(parameters);
  const check = promised === null ? primitive : primitiveOf(promised.primitive);
  const result = await check.run(setting, promised === null ? parameters : promised.with);
  return { ...result, outcome: result.ok ? 'met' : 'unmet' };
};

const withGit = async <Result>(
  { env }: Context,
  work: (git: PrimitiveContext['git']) => Promise<Result>,
): Promise<Result> => {
  const folder = await mkdtemp(join(tmpdir(), 'fixpoint-primitive-'));
  try {
    return await work(hostGit({ folder, path: env.PATH ?? '/usr/local/bin:/usr/bin:/bin' }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const parametersOf = async (given: string, context: Context): Promise<unknown> => {
  const isFile = given === '-' || given.startsWith('@');
  const text = isFile ? (await readDocument(given.replace(/^@/, ''), context)).text : given;
  const { source, diagnostics } = readSource(text);
  const [problem] = diagnostics;
  if (source === null) throw new Exit(EXIT.badInput, `--with is no YAML: ${problem?.message ?? 'it says nothing'}`);
  return source.value;
};
