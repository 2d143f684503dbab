import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import { memoryArtifacts } from '@fixpoint/event-store/memory-artifacts';
import { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import { gitWorkspaces } from '@fixpoint/execution/git-workspaces';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { requestOf } from './council.fixture.ts';
import { type EvidenceDeps, gatherEvidence } from './evidence.ts';
import { relevantDocuments } from './relevant-documents.ts';

const path = process.env.PATH ?? '/usr/bin:/bin';

let top: string;
let deps: EvidenceDeps;
let base: WorkspaceRef;
let ref: WorkspaceRef;
const store = new MemoryEventStore();

/** A workspace with these files on top of another. */
const grown = async (from: WorkspaceRef, name: string, files: Readonly<Record<string, string>>) => {
  const folder = join(top, name);
  await deps.workspaces.materialise(from, folder);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return deps.workspaces.capture(folder, from, { keep: [], refName: `refs/fixpoint/r1/r1/${name}` });
};

/** What a service said of the stalled run. */
const said = async (stream: string, type: string, data: object): Promise<void> => {
  const metadata = { causation_id: 'c', correlation_id: 'r1', producer: 'spec', actor: 'local' };
  const id = `00000000-0000-8000-8000-${String(stream.length).padStart(12, '0')}`;
  const event = { id, type, schema_version: 1, data, metadata, occurred_at: '2026-01-01T00:00:00.000Z' };
  await store.append({ stream, root: 'r1', expectedVersion: 0, events: [event] });
};

beforeAll(async () => {
  top = mkdtempSync(join(tmpdir(), 'fixpoint-evidence-'));
  const artifacts = memoryArtifacts();
  const workspaces = gitWorkspaces({ root: join(top, 'cache'), artifacts, path });
  deps = { store, artifacts, workspaces, copiesFolder: join(top, 'copies'), findDocuments: relevantDocuments };
  const note = 'src/store.ts is the only door.';
  base = await grown(await workspaces.resolve(null), '1', { 'src/store.ts': 'old\n', 'docs/adr/0001-door.md': note });
  ref = await grown(base, '2', { 'src/store.ts': 'new\n', 'src/web.ts': 'new\n' });
  const finding = { rule: 'r', path: 'src/store.ts', line: 3, criterion: null, message: 'it leaks' };
  const verdict = {
    ...{ validator: 'lint', severity: 'blocker', original_severity: 'blocker', error: false, overridable: true },
    ...{ justification: 'leaks', criteria: [], findings: [finding], evidence_hash: 'h', output: null, duration_ms: 1 },
  };
  await said('gate-r1-3', 'post_validated', { verdicts: [verdict] });
  await said('action-r1-3', 'node_verified_action', { detail: 'src/web.ts: two tests fail' });
});

afterAll(() => rmSync(top, { recursive: true, force: true }));

describe('what a council is shown', () => {
  test('H-T07 H-T64 is the diff so far, what was found and said of the stalled run, and the notes on those files', async () => {
    const evidence = await gatherEvidence(deps, requestOf({ base_ref: base, workspace_ref: ref }));
    expect(evidence.changed).toEqual(['src/store.ts', 'src/web.ts']);
    expect(evidence.patch).toContain('-old\n+new\n');
    expect(evidence.findings).toMatchObject([{ path: 'src/store.ts', line: 3 }]);
    expect(evidence.detail).toBe('src/web.ts: two tests fail');
    expect(evidence.documents.map((each) => each.path)).toEqual(['docs/adr/0001-door.md']);
    expect(readdirSync(join(top, 'copies'))).toEqual([]);
  });

  test('is the whole work where nothing was accepted before it', async () => {
    const { changed } = await gatherEvidence(deps, requestOf({ workspace_ref: ref }));
    expect(changed).toEqual(['docs/adr/0001-door.md', 'src/store.ts', 'src/web.ts']);
  });

  test('is nothing where nothing was done, and no run has stalled', async () => {
    const nothing = await deps.workspaces.resolve(null);
    const request = requestOf({ workspace_ref: nothing, stalled_run: null });
    expect(await gatherEvidence(deps, request)).toEqual({
      ...{ changed: [], patch: null, findings: [], detail: '', documents: [] },
    });
  });

  test('says nothing of a run whose judgement can not be read', async () => {
    await said('gate-r1-44', 'post_validated', { verdicts: 'unreadable' });
    const { findings, detail } = await gatherEvidence(deps, requestOf({ stalled_run: 44 }));
    expect([findings, detail]).toEqual([[], '']);
  });
});
