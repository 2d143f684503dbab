import type { ModeSpec, ValidatorSpec } from '@fixpoint/contracts/documents/protocol';
import type { NodeSpec, Recipe } from '@fixpoint/contracts/documents/task';

/** One node per triggering validator that has a fix, in protocol order. Empty when none has one. */
export const fixNodes = (mode: ModeSpec, triggering: readonly string[]): NodeSpec[] =>
  mode.post.flatMap((validator) =>
    validator.fix !== null && triggering.includes(validator.id) ? [fixNode(validator, validator.fix, mode)] : [],
  );

/** A fix has its own time in all; its check has the validator's. */
const fixNode = (validator: ValidatorSpec, recipe: Recipe, { fix_timeout_ms }: ModeSpec): NodeSpec => ({
  id: validator.id,
  kind: 'action',
  goal: `${validator.id} no longer objects`,
  recipe,
  postcondition: ownCheck(validator),
  policy: 'required',
  max_repair_attempts: 0,
  max_agent_attempts: 0,
  model: 'default',
  agent_tools: [],
  env: {},
  timeout_ms: fix_timeout_ms,
});

/** The executor can run a command; any other check waits for the judgement. */
const ownCheck = ({ check, timeout_ms }: ValidatorSpec): NodeSpec['postcondition'] =>
  'command' in check ? { all: [{ command: check.command, timeout_ms }] } : null;
