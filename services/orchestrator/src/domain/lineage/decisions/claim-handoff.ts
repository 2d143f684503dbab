import { after } from '../backoff.ts';
import type { ClaimHandoff } from '../commands.ts';
import { refOf, type Turn } from '../lookup.ts';
import type { Facts } from '../state.ts';
import { closedOr, openHandoff } from './open-handoff.ts';

/** Somebody looks after it: nobody else decides until then, and it does not run out before. */
export const claimHandoff = (command: ClaimHandoff, turn: Turn): Facts => {
  const { unitTask, handoff } = openHandoff(turn, command) ?? closedOr(turn, command.handoff);
  const until = after(turn.now, command.forMs);
  const [, expires_at = until] = [until, handoff.expiresAt].sort();
  const data = { ...refOf(turn.state, unitTask), handoff: handoff.id, version: handoff.version + 1 };
  return [{ type: 'handoff_claimed', data: { ...data, by: command.actor, until, expires_at } }];
};
