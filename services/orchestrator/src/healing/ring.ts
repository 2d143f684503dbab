import { handoffIdAt } from '@fixpoint/contracts/addresses';
import type { Clock } from '@fixpoint/contracts/clock';
import { type Publisher, publicationsOf } from '@fixpoint/messaging/publisher';
import type { Timer } from '../domain/lineage/commands.ts';
import { type LineageDecision, type Lineages, LineageUnknown } from '../lineages.ts';
import type { TimerRow } from '../waits/wait-rows.ts';
import type { Waits } from '../waits/waits.ts';

export const TIMERS = 'orchestrator__timers';

export interface RingDeps {
  readonly waits: Waits;
  readonly lineages: Lineages;
  readonly publisher: Publisher;
  readonly clock: Clock;
  /** One timer's trouble is told and stops no other; it rings again. */
  readonly report: (error: unknown, timer: TimerRow) => void;
}

const AT_ONCE = 200;
const PAUSE_MS = 200;

/** One round of the timers, for a loop: what is due becomes a command; one that comes late or twice is refused by state. */
export const ring =
  (deps: RingDeps) =>
  async (signal: AbortSignal): Promise<void> => {
    const timers = await deps.waits.claimTimers(AT_ONCE);
    const ready = await Promise.all(timers.map((timer) => prepare(deps, timer)));
    await decide(
      deps,
      ready.flatMap((each) => each ?? []),
    );
    if (timers.length < AT_ONCE) await deps.clock.sleep(PAUSE_MS, signal);
  };

interface Ringing {
  readonly timer: TimerRow;
  readonly decision: LineageDecision;
}

const timerOf = ({ kind, task, number, due_at: dueAt }: TimerRow): Timer => {
  if (kind === 'deadline') return { kind };
  if (kind === 'warning' || kind === 'expiry') return { kind, task, handoff: handoffIdAt(task, number), dueAt };
  if (kind === 'recompose') return { kind, task, attempt: number };
  return kind === 'retry' ? { kind, task, run: number } : { kind, task, request: number };
};

const prepare = async ({ lineages, waits, report }: RingDeps, timer: TimerRow): Promise<Ringing | null> => {
  const { id, root, due_at: time } = timer;
  const command = { type: 'timer_due', timer: timerOf(timer) } as const;
  const cause = { id: `timer:${id}`, time, actor: 'system' };
  try {
    return { timer, decision: await lineages.commandFor({ root, command, cause, nodeReady: null }) };
  } catch (error) {
    if (error instanceof LineageUnknown) await waits.fired(timer);
    else report(error, timer);
    return null;
  }
};

const decide = async (deps: RingDeps, ringing: readonly Ringing[]): Promise<void> => {
  const outcomes = await deps.lineages.decide(
    TIMERS,
    ringing.map(({ decision }) => decision),
  );
  for (const [index, { timer }] of ringing.entries()) {
    const outcome = outcomes[index];
    if (outcome?.outcome === 'failed') deps.report(outcome.error, timer);
    if (outcome === undefined || outcome.outcome === 'failed') continue;
    if (outcome.outcome === 'decided') deps.publisher.publish(publicationsOf(outcome.events, null));
    await deps.waits.fired(timer);
  }
};
