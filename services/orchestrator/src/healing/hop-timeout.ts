import type { ModeSpec } from '@fixpoint/contracts/documents/protocol';
import type { NodeReady } from '@fixpoint/contracts/events/lineage-events';
import type { Waiting } from '../waits/wait-rows.ts';

/** How long a hop may take before it counts as no answer, ms: its validators', the run's, the council's. Ours never ends. */
export const hopTimeoutMs = ({ kind }: Pick<Waiting, 'kind'>, mode: ModeSpec, ready: NodeReady | null): number => {
  switch (kind) {
    case 'gate':
      return mode.hop_slack_ms + total(mode.pre);
    case 'action':
      return mode.hop_slack_ms + (ready?.allowance.time_ms ?? 0);
    case 'judge':
      return mode.hop_slack_ms + total(mode.post);
    case 'council':
      return mode.hop_slack_ms + mode.council_timeout_ms;
    case 'decide':
    case 'fix':
    case 'epic':
    case 'timer':
    case 'human':
    case 'queue':
      return Number.POSITIVE_INFINITY;
    default:
      return kind satisfies never;
  }
};

const total = (validators: ModeSpec['pre']): number => validators.reduce((sum, { timeout_ms }) => sum + timeout_ms, 0);
