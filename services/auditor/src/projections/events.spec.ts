import { describe, expect, test } from '@jest/globals';
import { audited } from './audited-event.ts';
import { eventRow } from './events.ts';
import { judged, ready, recorded, runOf, spawned, telling } from './history.fixture.ts';
import { protocolModeRows } from './protocols.ts';

const rowOf = (stream: string, root: string, event: { type: string; data: unknown }) => {
  const { told, tell } = telling();
  tell(stream, root, event);
  return recorded(told)
    .map(audited)
    .map((one) => eventRow(one, (lineage) => (lineage === 'r1' ? 'web-shop' : undefined)))[0];
};

describe('event row', () => {
  test('says where the event is and what it is about', () => {
    expect(rowOf('lineage-r1', 'r1', ready(runOf('r1', 'r1', 4)))).toEqual({
      epoch: 1,
      xid: '700',
      position: '1',
      lineage: 'r1',
      project: 'web-shop',
      task: 'r1',
      run: 4,
      type: 'node_ready',
      status: null,
    });
  });

  test('names the outcome where there is one', () => {
    expect(rowOf('gate-r1-1', 'r1', judged(runOf('r1', 'r1', 1), 'proceed'))).toMatchObject({ status: 'proceed' });
  });

  test('is about the fix that was spawned, not about who spawned it', () => {
    expect(rowOf('lineage-r1', 'r1', spawned('r1', 2))).toMatchObject({ task: 'r1.f2', run: null });
  });

  test('exists for an event that nobody here can read', () => {
    expect(rowOf('lineage-r1', 'r1', { type: 'from_the_future', data: { task: 'r1' } })).toMatchObject({
      lineage: 'r1',
      type: 'from_the_future',
      project: 'web-shop',
      task: null,
      status: null,
    });
  });

  test('S-T107 of an event outside any lineage has the project that the event names', () => {
    const event = published();
    expect(rowOf('protocol-shop', 'protocol-shop', event)).toMatchObject({ project: 'shop', lineage: 'protocol-shop' });
    expect(rowOf('dead-validator', 'dead-validator', { type: 'anything', data: {} })).toMatchObject({ project: null });
  });
});

describe('protocol rows', () => {
  test('are one per mode, with the bounds of each', () => {
    const { told, tell } = telling();
    tell('protocol-shop', 'protocol-shop', published());
    expect(recorded(told).map(audited).flatMap(protocolModeRows)).toEqual([
      { project: 'shop', version: 3, mode: 'build', name: 'careful', ...BOUNDS },
    ]);
  });
});

const BOUNDS = { max_recovery_depth: 2, max_total_fix_attempts: 5, max_total_decomposition_children: 6 };

const published = () => ({
  type: 'protocol_published',
  data: {
    project: 'shop',
    name: 'careful',
    protocol_version: 3,
    hash: 'b'.repeat(64),
    published_at: '2026-01-02T03:04:05.000Z',
    spec: {
      name: 'careful',
      project: 'shop',
      modes: {
        build: {
          governance_rules: [],
          command_rules: [],
          pre: [],
          post: [],
          consensus: 'unanimous',
          recover_on: ['blocker'],
          protected: [],
          backoffs: {},
          handoff_expiry_ms: 1,
          handoff_warnings: [],
          handoff_on_expiry: 'keep',
          auto_agent_model: null,
          council_timeout_ms: 1,
          hop_slack_ms: 1,
          fix_timeout_ms: 1,
          bounds: {
            iterations: 50,
            execute: 3,
            judge: 2,
            indeterminate: 3,
            max_decomposition_depth: 2,
            faults: 5,
            deadline_ms: 1000,
            auto_agent_max_attempts: 3,
            integrate: 3,
            max_recompose_attempts: 5,
            regates: 24,
            max_money_micros: 0,
            max_tokens: 0,
            run_money_micros: 0,
            run_tokens: 0,
            ...BOUNDS,
          },
        },
      },
    },
  },
});
