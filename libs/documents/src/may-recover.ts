import { cappedSeverity, type ModeSpec, neededPasses, type Severity } from '@fixpoint/contracts/documents/protocol';

type Validator = ModeSpec['post'][number];

const worstOf = ({ severity, severity_cap }: Validator): Severity => cappedSeverity(severity, severity_cap);

/** Why a fix of a post-validator is never run; null when it may be. */
export type NeverRecovers = 'capped' | 'halts' | 'not_listed' | 'outvoted';

/**
 * Whether an objection of this validator can start a recovery at all. Only what is overridable and listed in
 * `recover_on` does, and of warnings only those that the consensus does not bear, unless a blocker takes them along.
 * Source: docs/rules.md (Judging, Recovery).
 */
export const whyNeverRecovers = (validator: Validator, mode: ModeSpec): NeverRecovers | null => {
  const severity = worstOf(validator);
  if (severity === 'pass') return 'capped';
  if (severity === 'blocker' && !validator.overridable) return 'halts';
  if (!mode.recover_on.includes(severity)) return 'not_listed';
  return severity === 'warning' && bearsEveryWarning(mode) && !recoversBlockers(mode) ? 'outvoted' : null;
};

/** Blockers take the warnings beside them into their fix. */
const recoversBlockers = ({ post, recover_on }: ModeSpec): boolean =>
  recover_on.includes('blocker') && post.some((each) => worstOf(each) === 'blocker' && each.overridable);

/**
 * Whether the consensus is reached though all warn that can. The postcondition and what can only block or pass are
 * passes then; of these, those that judge whole tasks are not asked each time.
 */
const bearsEveryWarning = ({ post, consensus }: ModeSpec): boolean => {
  const warnings = post.filter((each) => worstOf(each) === 'warning').length;
  const passes = 1 + post.filter((each) => worstOf(each) !== 'warning' && each.on === 'node').length;
  return passes >= neededPasses(consensus, passes + warnings);
};
