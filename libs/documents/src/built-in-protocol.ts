import type { Bounds, ModeSpec, ProtocolRef, ProtocolSpec } from '@fixpoint/contracts/documents/protocol';
import { protocolSpecHash } from './spec-hash.ts';

/** Bounds of a mode that names none. Source: docs/rules.md (Recovery, Counters). */
export const DEFAULT_BOUNDS: Bounds = {
  max_recovery_depth: 3,
  max_total_fix_attempts: 10,
  iterations: 50,
  execute: 3,
  judge: 2,
  indeterminate: 3,
  max_decomposition_depth: 2,
  max_total_decomposition_children: 8,
  faults: 5,
  fault_caps: {
    // The key will not become good by waiting.
    provider_auth: 0,
    rate_limit: 4,
    network: 6,
    disk: 3,
    internal: 3,
    run_timeout: 2,
    // A rolling update stops every process once.
    shutdown: 20,
  },
  deadline_ms: 24 * 3_600_000,
  auto_agent_max_attempts: 3,
  integrate: 3,
  max_recompose_attempts: 5,
  // A day of expired tokens, an hour each, or some hours of queues. Source: docs/adr/0008-regates-are-bounded.md.
  regates: 24,
  max_money_micros: 50_000_000,
  max_tokens: 20_000_000,
  run_money_micros: 1_000_000,
  run_tokens: 500_000,
};

/** Delays in ms before a new run, by fault class; `default` is for every class that is not named. */
export const DEFAULT_BACKOFFS: ModeSpec['backoffs'] = {
  default: [1_000, 2_000, 4_000, 8_000, 16_000],
  // Nothing is wrong with the work or the world: another executor may start at once.
  lost_executor: [0, 1_000, 5_000],
  shutdown: [0, 1_000, 5_000],
  network: [5_000, 10_000, 20_000, 40_000, 60_000],
  rate_limit: [4_000, 8_000, 16_000, 32_000],
  disk: [10_000, 30_000, 60_000],
  indeterminate: [1_000, 5_000, 15_000],
  council: [5_000, 30_000, 120_000, 600_000],
  // Four times as long each time, a day at most.
  recompose: [60_000, 240_000, 960_000, 3_840_000, 15_360_000, 61_440_000, 86_400_000],
};

type Waiting = Pick<
  ModeSpec,
  | 'handoff_expiry_ms'
  | 'handoff_warnings'
  | 'handoff_on_expiry'
  | 'auto_agent_model'
  | 'council_timeout_ms'
  | 'hop_slack_ms'
  | 'fix_timeout_ms'
>;

/** Times and outcomes of a mode that names none. */
export const DEFAULT_WAITING: Waiting = {
  handoff_expiry_ms: 7 * 24 * 3_600_000,
  handoff_warnings: [50, 90],
  handoff_on_expiry: 'keep',
  auto_agent_model: null,
  council_timeout_ms: 15 * 60_000,
  hop_slack_ms: 5 * 60_000,
  fix_timeout_ms: 3_600_000,
};

/** The one mode of `default@1`; modes of other protocols take their pre- and post-validators from it when they name none. */
export const builtInMode: ModeSpec = {
  governance_rules: [],
  command_rules: [],
  pre: [
    {
      id: 'document',
      check: { document_schema: {} },
      severity: 'blocker',
      overridable: false,
      severity_cap: null,
      fix: null,
      timeout_ms: 60_000,
      on: 'node',
    },
    {
      id: 'commands',
      check: { command_rules: {} },
      severity: 'blocker',
      overridable: false,
      severity_cap: null,
      fix: null,
      timeout_ms: 60_000,
      on: 'node',
    },
  ],
  post: [
    {
      id: 'secrets',
      check: { secret_scan: {} },
      severity: 'blocker',
      overridable: false,
      severity_cap: null,
      fix: null,
      timeout_ms: 60_000,
      on: 'node',
    },
  ],
  consensus: 'unanimous',
  recover_on: ['blocker'],
  protected: [],
  bounds: DEFAULT_BOUNDS,
  backoffs: DEFAULT_BACKOFFS,
  ...DEFAULT_WAITING,
};

/** `default@1`: what projects without a protocol of their own run under. It has no stream. */
export const builtInProtocol: ProtocolSpec = { name: 'default', project: 'default', modes: { build: builtInMode } };

/** The reference that lineages under `default@1` are pinned to. */
export const builtInProtocolRef: ProtocolRef = { name: 'default', version: 1, hash: protocolSpecHash(builtInProtocol) };
