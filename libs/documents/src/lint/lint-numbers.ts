import type { ModeSpec } from '@fixpoint/contracts/documents/protocol';
import { type Finding, found } from './finding.ts';

interface Nonsense {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly holds: (mode: ModeSpec) => boolean;
}

const NONSENSE: readonly Nonsense[] = [
  {
    path: ['bounds', 'execute'],
    message: 'A node has fewer runs than may end unmet: iterations come first, and execute is never reached.',
    holds: ({ bounds }) => bounds.execute > bounds.iterations,
  },
  {
    path: ['bounds', 'max_total_decomposition_children'],
    message: 'A split makes two tasks at least, so with one nothing is ever split.',
    holds: ({ bounds }) => bounds.max_total_decomposition_children === 1,
  },
  {
    path: ['auto_agent_model'],
    message: 'A model is named, and an agent has no attempt.',
    holds: ({ auto_agent_model: model, bounds }) => model !== null && bounds.auto_agent_max_attempts === 0,
  },
  {
    path: ['handoff_warnings'],
    message: 'Reminders are percentages that rise.',
    holds: ({ handoff_warnings: at }) => at.some((share, index) => share <= (at[index - 1] ?? 0)),
  },
  {
    path: ['council_timeout'],
    message: 'The council may take longer than the whole lineage lives.',
    holds: ({ council_timeout_ms, bounds }) => council_timeout_ms > bounds.deadline_ms,
  },
];

/** Numbers that are all right alone and make no sense together. */
export const lintNumbers = (mode: ModeSpec): Finding[] =>
  NONSENSE.filter(({ holds }) => holds(mode)).map(({ path, message }) => found('FX210', path, { message }));
