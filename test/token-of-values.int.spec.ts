import type { NodeReady } from '@fixpoint/contracts/events/lineage-events';
import { builtInMode } from '@fixpoint/documents/built-in-protocol';
import { executorWorld } from '@fixpoint/executor/run-reader.fixture';
import { tokenCheck } from '@fixpoint/executor/token-check';
import { systemClock } from '@fixpoint/runtime/system-clock';
import { systemIds } from '@fixpoint/runtime/system-ids';
import { firewallHash } from '@fixpoint/validation/firewall';
import { runTokens } from '@fixpoint/validator/run-tokens';
import { generateSigningKeys, publicKeysOf } from '@fixpoint/validator/token-keys';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { admittedSpec, secondRun } from './second-run.ts';

let world: ReturnType<typeof executorWorld>;
beforeEach(() => {
  world = executorWorld();
});
afterEach(() => world.close());

const spec = admittedSpec(`kind: task/v1
name: t
nodes:
  - { id: count, kind: compute, recipe: { command: print }, postcondition: { cel: output.n > 0 } }
  - id: use
    env: { N: "$\{{ nodes.count.output.n }}" }
    recipe: { command: 'test "$N" = 1' }
`);

const keys = generateSigningKeys('k1');
const mint = runTokens(keys, { clock: systemClock, ids: systemIds });
const check = tokenCheck(publicKeysOf(keys));

/** Offers a run with the token that was minted for another one, or for itself. */
const offered = async (run: NodeReady, mintedFor: NodeReady): Promise<string[]> => {
  const token = await mint(mintedFor, firewallHash({ node: mintedFor.node, mode: builtInMode }));
  const deps = { ...world.deps('executor-a'), checkToken: (_: string, ...rest: Rest) => check(token, ...rest) };
  const { node, ...more } = run;
  await world.offer(await world.gated(node, { ...more, run: 1 }), deps);
  return (await world.actionEvents()).map(({ type }) => type);
};
type Rest = Parameters<typeof check> extends [string, ...infer Others] ? Others : never;

const first = (n: number): NodeReady => ({ ...secondRun(spec, { n }), run: 1 });

describe('the token of a run that takes values', () => {
  test('is good for these values', async () => {
    expect(await offered(first(1), first(1))).toEqual(['action_started', 'tool_called', 'node_verified_action']);
  });

  test('is not good for the same run with other values', async () => {
    expect(await offered(first(2), first(1))).toEqual(['run_refused']);
  });

  test('is not good for other values under the same spec hash either', async () => {
    const other = { ...first(1), node: { ...first(1).node, env: { N: '2' } } };
    expect(await offered(other, first(1))).toEqual(['run_refused']);
  });

  test('is not good for the node as it was written', async () => {
    const written = { ...first(1), spec_hash: 'a'.repeat(64) };
    expect(await offered(written, first(1))).toEqual(['run_refused']);
  });
});
