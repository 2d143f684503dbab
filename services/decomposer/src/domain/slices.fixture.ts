import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import type { Slice } from '@fixpoint/contracts/events/decomposer-events';

export const nodeOf = (more: Partial<NodeSpec> = {}): NodeSpec => ({
  ...{ id: 'main', kind: 'action', goal: 'All is migrated', recipe: { command: 'make all' } },
  postcondition: { all: [{ command: 'make test', timeout_ms: 1000 }] },
  ...{ policy: 'required', max_repair_attempts: 0, max_agent_attempts: 0, model: 'default', agent_tools: [] },
  ...{ env: {}, timeout_ms: 60_000 },
  ...more,
});

/** A node whose recipe and check can be told to do less. */
export const sliceable = nodeOf({
  recipe: { command: 'make $FIXPOINT_SLICE_NAME' },
  postcondition: { all: [{ command: 'make test-$FIXPOINT_SLICE_NAME', timeout_ms: 1000 }] },
});

export const partOf = (name: string, more: Partial<Slice> = {}) => ({
  name,
  goal: `The ${name} is migrated`,
  paths: [`${name}/**`],
  nodes: [
    nodeOf({
      ...{ id: name, goal: name, recipe: { command: `make ${name}` } },
      postcondition: { all: [{ command: `test -f ${name}.done`, timeout_ms: 1000 }] },
    }),
  ],
  parts: [],
  ...more,
});

export const sliceOf = (name: string, more: Partial<Slice> = {}): Slice => ({
  ...partOf(name),
  inputs: {},
  salvage: false,
  ...more,
});
