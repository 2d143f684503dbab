import fc from 'fast-check';
import type { TaskDocument } from './task-document.ts';

const odd = fc.constantFrom(
  '\0',
  '\ud800',
  '\udfff',
  '\u2028',
  '\ufeff',
  '\x85',
  '\t',
  '\n',
  '  ',
  '# ',
  ': ',
  '- ',
  '"',
  "'",
  '---\n',
);
const anyText = fc
  .array(fc.oneof(odd, fc.string({ unit: 'binary', minLength: 1, maxLength: 3 })), { maxLength: 8 })
  .map((parts) => parts.join(''));
/** Not empty, and hard to print. */
export const oddTexts = anyText.filter((value) => value !== '');
const text = oddTexts;
const timeout = fc.constantFrom('500ms', '30s', '5m', '1h');
/** An object of plain values, without numbers that no document can keep exactly. */
export const dataObjects = fc.dictionary(
  text,
  fc.oneof(
    text,
    fc.maxSafeInteger(),
    fc.boolean(),
    fc.constant(null),
    fc.array(text),
    fc.double({ noNaN: true, noInteger: true, noDefaultInfinity: true }),
  ),
  { maxKeys: 3 },
);
const data = dataObjects;
const optional = { requiredKeys: [] as [] };

export const recipeDocuments = fc.oneof(
  fc.record({ command: text }),
  fc.record({ script: text, language: fc.constantFrom('sh', 'bash', 'node', 'python3') }, { requiredKeys: ['script'] }),
  fc.record({ primitive: text, with: data }, { requiredKeys: ['primitive'] }),
);

const check = fc.oneof(
  fc.record({ command: text, timeout }, { requiredKeys: ['command'] }),
  fc.record({ primitive: text, with: data, timeout }, { requiredKeys: ['primitive'] }),
  fc.record({ json_schema: data, timeout }, { requiredKeys: ['json_schema'] }),
  fc.record({ cel: text }),
);
const quad = {
  recipe: recipeDocuments,
  postcondition: fc.oneof(check, fc.record({ all: fc.array(check, { minLength: 1, maxLength: 3 }) })),
  policy: fc.constantFrom('required', 'recover', 'best_effort'),
  recovery: fc.record({ max_repair_attempts: fc.nat(50), model: text }, optional),
  outputs: fc.oneof(
    fc.record({ output_file: fc.constantFrom('out.json', 'a/b') }),
    fc.record({ output_file: fc.constant('o'), json_schema: data }),
    fc.record({ json_schema: data }),
  ),
  env: fc.dictionary(fc.constantFrom('A', '_B', 'c1'), text, { maxKeys: 2 }),
  network: fc.constant(true),
  timeout,
};
const head = {
  kind: fc.constant('task/v1'),
  name: text,
  labels: fc.dictionary(text, text, { maxKeys: 2 }),
  goal: text,
  inputs: fc.dictionary(fc.constantFrom('a', 'b-1', '_C'), fc.oneof(text, data, fc.array(data)), { maxKeys: 2 }),
  priority: fc.integer(),
  concurrency: fc.record({ key: fc.constantFrom('deploy', 'lab/gpu:0'), limit: fc.integer({ min: 1, max: 1_000 }) }),
  workspace: fc.record(
    { git: fc.record({ url: text, ref: text }, { requiredKeys: ['url'] }), keep: fc.array(text) },
    optional,
  ),
  deliver: fc.record({ branch: fc.constantFrom('main', 'fixpoint/a-1', 'grün') }),
};
const node = fc.record(
  { id: fc.constantFrom('a', 'b'), kind: fc.constantFrom('action', 'gate', 'compute'), goal: text, if: text, ...quad },
  { requiredKeys: ['recipe'] },
);
const partHead = { name: text, goal: text, paths: fc.array(text, { maxLength: 2 }) };
const part = fc.oneof(
  fc.record({ ...partHead, ...quad }, { requiredKeys: ['name', 'recipe'] }),
  fc.record(
    { ...partHead, nodes: fc.array(node, { minLength: 1, maxLength: 2 }) },
    { requiredKeys: ['name', 'nodes'] },
  ),
);
const parts = fc.array(part, { minLength: 2, maxLength: 3 });

/** Every key that a task may have, with texts that are hard to print. */
export const taskDocuments = fc.oneof(
  fc.record(
    { ...head, parts, nodes: fc.array(node, { minLength: 1, maxLength: 3 }) },
    { requiredKeys: ['kind', 'name', 'nodes'] },
  ),
  fc.record({ ...head, parts, ...quad }, { requiredKeys: ['kind', 'name', 'recipe'] }),
) as fc.Arbitrary<TaskDocument>;
