import type { FailedCommand, Proposal, RepairModel } from '../models.ts';
import { applyRule } from './apply-rule.ts';
import { MAX_LOOKED_AT, PatternTooSlow } from './bounded-regex.ts';
import type { PlaybookRule } from './playbook-document.ts';

/**
 * A repair model of rules: the first rule that recognises the failure and makes a new command of it. Needs no network,
 * answers the same question always the same way, and knows only brittle mechanics, never the goal.
 * @param rules in the order in which they are tried; see `loadPlaybook`.
 */
export const playbookModel = (rules: readonly PlaybookRule[], name = 'default'): RepairModel => ({
  name,
  propose: async (failed) => propose(rules, failed),
});

const propose = (rules: readonly PlaybookRule[], failed: FailedCommand): Proposal => {
  if (failed.command.length > MAX_LOOKED_AT) return declined(`the command is longer than ${MAX_LOOKED_AT} characters`);
  if (failed.timedOut) return declined('the command ran out of time; no rule corrects that');
  const tooSlow: string[] = [];
  for (const rule of rules) {
    const corrected = attempt(rule, failed, tooSlow);
    if (corrected === null || failed.previous.includes(corrected)) continue;
    return { kind: 'proposed', corrected, rule: rule.id, reasoning: rule.reasoning.trim() };
  }
  const note = tooSlow.length === 0 ? '' : `; too slow and passed over: ${tooSlow.join(', ')}`;
  return declined(`no rule of the playbook corrects this failure${note}`);
};

const attempt = (rule: PlaybookRule, failed: FailedCommand, tooSlow: string[]): string | null => {
  try {
    return applyRule(rule, failed);
  } catch (error) {
    if (!(error instanceof PatternTooSlow)) throw error;
    tooSlow.push(rule.id);
    return null;
  }
};

const declined = (reason: string): Proposal => ({ kind: 'declined', reason });
