import fc from 'fast-check';
import type { ProtocolDocument } from './protocol-document.ts';
import { dataObjects, oddTexts, recipeDocuments } from './task-document.fixture.ts';

const text = oddTexts;
const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,12}$/).filter((word) => word !== 'default');
const duration = fc.constantFrom('500ms', '30s', '5m', '168h');
const severity = fc.constantFrom('warning', 'blocker');
const ids = { requiredKeys: ['id', 'check'] as ('id' | 'check')[] };
const check = fc.oneof(
  fc.record({ command: text }),
  fc.record({
    report: fc.record(
      {
        ...{ format: fc.constantFrom('sarif', 'junit', 'tap'), command: text, file: text },
        level: fc.constantFrom('note', 'warning', 'error'),
      },
      { requiredKeys: ['format', 'command'] },
    ),
  }),
  fc.record({ cel: text }),
  fc.record({ json_schema: dataObjects }),
  fc.constantFrom({ secret_scan: {} }, { document_schema: {} }, { command_rules: {} }),
);
const validator = fc.record(
  {
    ...{ id: name, check, severity, overridable: fc.boolean(), fix: recipeDocuments, timeout: duration },
    ...{ severity_cap: fc.constantFrom('pass', 'warning', 'blocker'), on: fc.constantFrom('node', 'task') },
  },
  ids,
);
const rule = fc.record({ id: name, deny: text, message: text }, { requiredKeys: ['id', 'deny'] });
const few = <Item>(items: fc.Arbitrary<Item>): fc.Arbitrary<Item[]> => fc.array(items, { maxLength: 2 });
const mode = fc.record(
  {
    governance_rules: few(rule),
    command_rules: few(rule),
    pre: few(validator),
    post: few(validator),
    consensus: fc.constantFrom('unanimous', 'majority', 'quorum', 'any'),
    recover_on: fc.subarray(['warning', 'blocker']),
    protected: few(text),
    bounds: fc.record({ execute: fc.integer({ min: 1 }), deadline: duration }, { requiredKeys: [] }),
    backoffs: fc.dictionary(name, fc.array(duration, { minLength: 1, maxLength: 3 }), { maxKeys: 2 }),
    handoff_expiry: duration,
    sandbox: fc.record(
      {
        require: fc.constantFrom('required', 'preferred', 'none'),
        network: fc.constantFrom('forbidden', 'on_request'),
        limits: fc.record({ processes: fc.integer({ min: 8, max: 65_536 }) }, { requiredKeys: [] }),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);
/** Every key that a protocol may have. */
export const protocolDocuments = fc.record({
  kind: fc.constant('protocol/v1'),
  name,
  project: name,
  modes: fc.dictionary(name, mode, { minKeys: 1, maxKeys: 3 }),
}) as fc.Arbitrary<ProtocolDocument>;
