import { sign } from 'node:crypto';
import type { SignedDecision } from '@fixpoint/contracts/human-decision';
import { gateStream } from '@fixpoint/contracts/streams';
import type { Verdict } from '@fixpoint/contracts/verdict';
import { verdictOf } from '@fixpoint/validation/verdict';
import { describe, expect, test } from '@jest/globals';
import { attestedBy, decidedAnew, passedBefore } from './decided-anew.ts';
import { signedDecisions } from './signed-decisions.ts';
import { generateSigningKeys, publicKeysOf, type SigningKeys, signingKey } from './token-keys.ts';
import { nodeReadyOf } from './validator.fixture.ts';

const KEYS = generateSigningKeys('decisions');
const OTHERS = generateSigningKeys('decisions');
const TREE = 'b'.repeat(40);

const said = (id: string, severity: 'warning' | 'blocker', overridable = true): Verdict => {
  const spec = { id, severity, overridable, severity_cap: null };
  const verdict = verdictOf(spec, { answer: 'fail', justification: 'too large' }, 0);
  if (verdict === null) throw new Error('no verdict');
  return verdict;
};

const WARNING = said('size', 'warning');
const FINAL = said('licence', 'blocker', false);
const run = nodeReadyOf({}, { run: 2, verdicts_of: 1 });

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const signed = (keys: SigningKeys, human_decision: SignedDecision): string => {
  const { kid, key } = signingKey(keys);
  const text = `${base64url({ alg: 'EdDSA', kid })}.${base64url({ human_decision })}`;
  return `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`;
};

type Lifting = Extract<SignedDecision['what'], { kind: 'approve' | 'override' }>;

const decision = (change: Partial<Lifting> = {}): SignedDecision => ({
  ...{ root: run.root, task: run.task, handoff: `${run.task}.h1`, handoff_version: 1, decision_id: 'd1' },
  ...{ who: 'ada', authenticated: 'api_key', comment_hash: null, when: '2026-01-01T00:00:00.000Z' },
  what: {
    ...{ kind: 'approve', task: run.task, run: 1, phase: 'judge', spec_hash: run.spec_hash, tree: TREE },
    lifts: [{ validator: 'size', evidence_hash: WARNING.evidence_hash }],
    ...change,
  } as Lifting,
});

const store = (verdicts: readonly Verdict[]) => ({
  readStream: async (stream: string) => {
    const data = {
      ...{ root: run.root, task: run.task, address: '0', run: 1, node_id: 'n', outcome: 'escalate', reason: '' },
      ...{ halt_type: 'escalate', raw_halt_type: 'warnings', verdicts, triggering_validators: [] },
      ...{ signature: 'a'.repeat(64), workspace_ref: null },
    };
    const event = { id: 'e', type: 'post_validated', schema_version: 1, data };
    return stream === gateStream(run.task, 1) ? [event as never] : [];
  },
});

const anew = (jws: string, verdicts = [WARNING], tree: string | null = TREE) =>
  decidedAnew(
    { store: store(verdicts), decisions: signedDecisions(publicKeysOf(KEYS)) },
    { ...run, decisions: [jws] },
    { phase: 'judge', tree },
  );

describe('S-T111 a signed decision', () => {
  test('lifts what it names, and nobody is asked', async () => {
    expect(await anew(signed(KEYS, decision()))).toEqual({ verdicts: [WARNING], lifted: ['size'] });
  });

  test.each([
    ['another run', { run: 3 }],
    ['another spec', { spec_hash: 'c'.repeat(64) }],
    ['another tree', { tree: 'd'.repeat(40) }],
    ['the other question', { phase: 'gate' as const }],
    ['another task', { task: 'other' }],
  ])('about %s binds nothing here: all are asked', async (_, change) => {
    expect(await anew(signed(KEYS, decision(change)))).toBeNull();
  });

  test('about a tree that has changed since binds nothing', async () => {
    expect(await anew(signed(KEYS, decision()), [WARNING], 'e'.repeat(40))).toBeNull();
  });

  test('about other evidence lifts nothing', async () => {
    const lifts = [{ validator: 'size', evidence_hash: 'f'.repeat(64) }];
    expect((await anew(signed(KEYS, decision({ lifts }))))?.lifted).toEqual([]);
  });

  test.each(['approve', 'override'] as const)('to %s never lifts a blocker that is not overridable', async (kind) => {
    const lifts = [{ validator: 'licence', evidence_hash: FINAL.evidence_hash }];
    expect((await anew(signed(KEYS, decision({ kind, lifts })), [FINAL]))?.lifted).toEqual([]);
  });

  test('that others signed, under the same name of a key, is not believed', async () => {
    expect(await anew(signed(OTHERS, decision()))).toBeNull();
  });

  test('that was changed after it was signed is not believed', async () => {
    const [header, , signature] = signed(KEYS, decision()).split('.');
    const forged = base64url({ human_decision: { ...decision(), who: 'eve' } });
    expect(await anew(`${header}.${forged}.${signature}`)).toBeNull();
  });
});

describe('a judgement that is decided anew', () => {
  const passed = {
    ...{ root: run.root, task: run.task, address: '0', run: 1, outcome: 'proceed_with_log', run_kind: 'normal' },
    ...{ work: 'long', token: 't', workspace_ref: null, verdicts: [WARNING], firewall_hash: 'a'.repeat(64) },
  };
  const gated = {
    readStream: async () => [{ id: 'e', type: 'governance_passed', schema_version: 1, data: passed } as never],
  };
  const ref = { source: null, base: TREE, head: TREE, commit: TREE, tree: TREE, bundle: null };
  const passedFor = (change: Partial<Lifting> = {}, more: Partial<typeof run> = {}) =>
    passedBefore(
      { store: gated, decisions: signedDecisions(publicKeysOf(KEYS)) },
      { ...run, run_kind: 'check', workspace_ref: ref, decisions: [signed(KEYS, decision(change))], ...more },
    );

  test('S-T111 asks no gate again: what it said of the run that was judged stands', async () => {
    expect(await passedFor()).toMatchObject({ outcome: 'proceed_with_log', verdicts: [WARNING] });
  });

  test.each([
    ['for another tree', { tree: 'd'.repeat(40) }, {}],
    ['for another spec', { spec_hash: 'c'.repeat(64) }, {}],
    ['of what the gate withheld', { phase: 'gate' as const }, {}],
    ['that nobody here signed', {}, { decisions: ['x.y.z'] }],
    ['of a run that would do something', {}, { run_kind: 'normal' as const }],
  ])('asks it where there is no decision but one %s', async (_, change, more) => {
    expect(await passedFor(change, more)).toBeNull();
  });
});

describe('a node without a check that a human says is done', () => {
  const word: SignedDecision = { ...decision(), what: { kind: 'resolve', ref: null, exclude_children: [] } };
  const attested = (jws: string) =>
    attestedBy({ decisions: signedDecisions(publicKeysOf(KEYS)) }, { ...run, decisions: [jws] });

  test('is attested by whoever signed so', async () => {
    expect(await attested(signed(KEYS, word))).toBe('ada (decision d1)');
  });

  test('is attested by nobody who signed something else, of another task, or elsewhere', async () => {
    expect(await attested(signed(KEYS, decision()))).toBeNull();
    expect(await attested(signed(KEYS, { ...word, task: 'other' }))).toBeNull();
    expect(await attested(signed(OTHERS, word))).toBeNull();
  });
});
