import {
  commandOf,
  type ModeSpec,
  type ProtocolSpec,
  type ValidatorSpec,
} from '@fixpoint/contracts/documents/protocol';
import { builtInMode, DEFAULT_BACKOFFS, DEFAULT_BOUNDS, DEFAULT_WAITING } from './built-in-protocol.ts';
import { msOf, normaliseRecipe } from './normalise-task.ts';
import type { ModeDocument, ProtocolDocument, ValidatorDocument } from './protocol-document.ts';

const DEFAULT_VALIDATOR_TIMEOUT_MS = 60_000;

/** The protocol with every default filled in and every duration in milliseconds. Source: docs/rules.md. */
export const normaliseProtocol = ({ name, project, modes }: ProtocolDocument): ProtocolSpec => ({
  name,
  project,
  modes: Object.fromEntries(Object.entries(modes).map(([id, mode]) => [id, normaliseMode(mode)])),
});

const normaliseMode = (mode: ModeDocument): ModeSpec => ({
  governance_rules: (mode.governance_rules ?? []).map(
    ({ id, deny, severity = 'blocker', overridable = false, message = '' }) => ({
      id,
      deny,
      severity,
      overridable,
      message,
    }),
  ),
  command_rules: (mode.command_rules ?? []).map(({ id, deny, message = '' }) => ({ id, deny, message })),
  pre: mode.pre?.map(normaliseValidator) ?? builtInMode.pre,
  post: mode.post?.map(normaliseValidator) ?? builtInMode.post,
  consensus: mode.consensus ?? 'unanimous',
  recover_on: mode.recover_on ?? ['blocker'],
  protected: mode.protected ?? [],
  bounds: normaliseBounds(mode.bounds ?? {}),
  ...(mode.sandbox === undefined ? {} : { sandbox: mode.sandbox }),
  backoffs: { ...DEFAULT_BACKOFFS, ...normaliseBackoffs(mode.backoffs ?? {}) },
  ...normaliseWaiting(mode),
});

const normaliseWaiting = (mode: ModeDocument): typeof DEFAULT_WAITING => ({
  handoff_expiry_ms: msOf(mode.handoff_expiry, DEFAULT_WAITING.handoff_expiry_ms),
  handoff_warnings: mode.handoff_warnings ?? DEFAULT_WAITING.handoff_warnings,
  handoff_on_expiry: mode.handoff_on_expiry ?? DEFAULT_WAITING.handoff_on_expiry,
  auto_agent_model: mode.auto_agent_model ?? null,
  council_timeout_ms: msOf(mode.council_timeout, DEFAULT_WAITING.council_timeout_ms),
  hop_slack_ms: msOf(mode.hop_slack, DEFAULT_WAITING.hop_slack_ms),
  fix_timeout_ms: msOf(mode.fix_timeout, DEFAULT_WAITING.fix_timeout_ms),
});

const normaliseValidator = (validator: ValidatorDocument): ValidatorSpec => ({
  id: validator.id,
  check: validator.check,
  severity: validator.severity ?? 'blocker',
  overridable: validator.overridable ?? false,
  severity_cap: validator.severity_cap ?? null,
  fix: validator.fix === undefined ? null : normaliseRecipe(validator.fix),
  timeout_ms: msOf(validator.timeout, DEFAULT_VALIDATOR_TIMEOUT_MS),
  ...(validator.network === undefined ? {} : { network: validator.network }),
  // A command looks at the whole folder, which is only complete with the last node.
  on: validator.on ?? (commandOf(validator.check) === null ? 'node' : 'task'),
});

const normaliseBounds = ({ deadline, ...bounds }: NonNullable<ModeDocument['bounds']>): ModeSpec['bounds'] => ({
  ...DEFAULT_BOUNDS,
  ...Object.fromEntries(Object.entries(bounds).filter(([, value]) => value !== undefined)),
  // Who bounds faults as such means all classes that he does not name.
  fault_caps: { ...(bounds.faults === undefined ? DEFAULT_BOUNDS.fault_caps : {}), ...bounds.fault_caps },
  deadline_ms: msOf(deadline, DEFAULT_BOUNDS.deadline_ms),
});

const normaliseBackoffs = (backoffs: NonNullable<ModeDocument['backoffs']>): ModeSpec['backoffs'] =>
  Object.fromEntries(Object.entries(backoffs).map(([name, delays]) => [name, delays.map((delay) => msOf(delay, 0))]));
