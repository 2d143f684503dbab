import { basename } from 'node:path';
import type { Command, Runner } from '@fixpoint/execution/runner';
import { SpanKind } from '@opentelemetry/api';
import { during, type Instruments } from './spans.ts';

/** A span per command, below the run or judgement that it belongs to. What it says and prints stays in the store. */
export const tracedRunner = (runner: Runner, { spans, metrics }: Instruments): Runner => ({
  run: async (command) => {
    const name = programOf(command);
    const span = spans.open({
      name: `run ${name}`,
      kind: SpanKind.INTERNAL,
      attributes: { 'process.executable.name': name },
      parent: spans.active()?.spanContext() ?? null,
    });
    return during([span], async () => {
      const result = await runner.run(command);
      span.setAttribute('fixpoint.command.status', result.status);
      if (result.exitCode !== null) span.setAttribute('process.exit.code', result.exitCode);
      metrics.record('fixpoint.command.duration', result.durationMs / 1_000, {
        'fixpoint.command.status': result.status,
      });
      return result;
    });
  },
});

/** Never more than the name of a program: arguments may hold secrets. */
const programOf = ({ program }: Command): string => {
  if (program.kind === 'argv') return basename(program.argv[0]);
  return program.kind === 'shell' ? 'sh' : program.language;
};
