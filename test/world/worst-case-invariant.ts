import type { ModeSpec } from '@fixpoint/contracts/documents/protocol';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import { builtInProtocol } from '@fixpoint/documents/built-in-protocol';
import { type WorstCase, worstCase } from '@fixpoint/documents/worst-case';
import { dataOf } from './story.ts';

type Submitted = EventNamed<'task_submitted'>['data'];
type Events = readonly RecordedEvent[];

/** The mode that a lineage is pinned to. */
export const modeOf = (events: Events, { protocol, scope }: Submitted): ModeSpec => {
  const published = dataOf(events, 'protocol_published').find(({ hash }) => hash === protocol.hash);
  const mode = (published?.spec ?? builtInProtocol).modes[scope.mode];
  if (mode === undefined) throw new Error(`${protocol.name} has no mode ${scope.mode}`);
  return mode;
};

/** What the machinery lost is done again beside what was said, what was split has costs of its own, and humans add to it. */
const isUndisturbed = (own: Events): boolean =>
  !own.some(({ type }) =>
    [
      'human_decided',
      'handoff_expired',
      'fault_recorded',
      'run_refused',
      'run_revoked',
      'epic_opened',
      'child_submitted',
    ].includes(type),
  );

/** What one lineage had done, by what its executors recorded of each command. */
const spentIn = (own: Events, root: string): Partial<WorstCase> => {
  const calls = dataOf(own, 'tool_called').filter(({ outcome }) => outcome !== 'denied');
  const count = (tool: string, of: 'root' | 'fixes' | 'all' = 'all'): number =>
    calls.filter((call) => call.tool === tool && (of === 'all' || (of === 'root') === (call.task === root))).length;
  return {
    recipe_runs: count('recipe', 'root'),
    fix_runs: count('recipe', 'fixes'),
    checks: count('postcondition'),
    repairs: count('self_repair'),
    model_calls: count('repair_model'),
    fix_tasks: dataOf(own, 'subtask_spawned').length,
    money_micros: dataOf(own, 'run_accounted').at(-1)?.total.money_micros ?? 0,
  };
};

/** The whole ladder, as it was climbed, costs no more than was said before anything ran. */
export const withinWorstCase = {
  name: 'X17 no lineage costs more than was said of its task',
  broken: ({ events }: { readonly events: Events }): readonly string[] =>
    dataOf(events, 'task_submitted').flatMap((submitted) => {
      const own = events.filter(({ root }) => root === submitted.root);
      if (!isUndisturbed(own)) return [];
      const most = worstCase(submitted.spec, modeOf(events, submitted));
      const spent = Object.entries(spentIn(own, submitted.root));
      return spent
        .filter(([what, used]) => used > most[what as keyof WorstCase])
        .map(([what, used]) => `${submitted.spec.name}: ${used} ${what}`);
    }),
};
