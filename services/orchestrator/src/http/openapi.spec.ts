import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { CONTROLLERS } from '../orchestrator.module.ts';
import { OPERATIONS, openApiDocument } from './openapi.ts';
import { servedOrchestrator } from './served-orchestrator.fixture.ts';

const pathsOf = (controller: Type): string[] => {
  const { prototype } = controller;
  const own = String(Reflect.getMetadata(PATH_METADATA, controller));
  return Object.getOwnPropertyNames(prototype).flatMap((name) => {
    const handler: object = Reflect.get(prototype, name);
    const method: RequestMethod | undefined = Reflect.getMetadata(METHOD_METADATA, handler);
    if (method === undefined) return [];
    const parts = [own, String(Reflect.getMetadata(PATH_METADATA, handler))].filter((part) => part !== '/');
    return [`${RequestMethod[method].toLowerCase()} /${parts.join('/').replace(/:(\w+)/g, '{$1}')}`];
  });
};

type Described = {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: { readonly $ref: string } }>> };
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { readonly schema: { readonly $ref: string } }>> }>
  >;
};

let served: Awaited<ReturnType<typeof servedOrchestrator>>;
let document: { readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>> };
let ajv: Ajv2020;

beforeAll(async () => {
  served = await servedOrchestrator();
  document = (await (await fetch(`${served.running.url}/v1/openapi.json`)).json()) as typeof document;
  // Formats are for people here; what they check is in the schemas' patterns, too.
  ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'api');
});
afterAll(() => served.running.close());

const schemaAt = (reference: string): ValidateFunction => {
  const found = ajv.getSchema(`api${reference}`);
  if (found === undefined) throw new Error(`${reference} is nowhere`);
  return found;
};

const operationAt = (method: string, path: string): Described => {
  const found = document.paths[path]?.[method];
  if (found === undefined) throw new Error(`${method} ${path} is not described`);
  return found;
};

const complaints = (reference: string, value: unknown): unknown => {
  const check = schemaAt(reference);
  return check(value) ? [] : check.errors;
};

const JSON_TYPE = 'application/json';

/** Sends it, and checks both what is sent and what is answered by what the document says of them. */
const ask = async (path: string, values: Readonly<Record<string, string>>, body?: unknown) => {
  const method = body === undefined ? 'get' : 'post';
  const described = operationAt(method, path);
  const url = path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
  const headers = { 'content-type': JSON_TYPE };
  const sent = body === undefined ? {} : { method, headers, body: JSON.stringify(body) };
  const response = await fetch(`${served.running.url}${url}`, sent);
  const answer: unknown = await response.json();
  const of = described.responses[response.status] ?? described.responses.default;
  const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
  return {
    status: response.status,
    answer: answer as Readonly<Record<string, unknown>>,
    isNamed: response.status in described.responses,
    asked: body === undefined ? [] : complaints(described.requestBody?.content[JSON_TYPE]?.schema.$ref ?? '', body),
    answered: complaints(of?.content[type]?.schema.$ref ?? '', answer),
  };
};

const GOOD = { isNamed: true, asked: [], answered: [] };
const task = (name: string) =>
  `kind: task/v1\nname: ${name}\nproject: shop\nmode: build\ngoal: It counts\nrecipe: { command: make }\npostcondition: { command: test -f it }\n`;
const PROTOCOL = { kind: 'protocol/v1', name: 'shop', project: 'shop', modes: { build: {} } };

describe('the OpenAPI document of the write API', () => {
  test('has every route and no other', () => {
    const described = OPERATIONS.map(({ method, path }) => `${method} ${path}`);
    expect(described.sort()).toEqual(CONTROLLERS.flatMap(pathsOf).sort());
  });

  test('has a place for everything that it refers to', () => {
    const references = JSON.stringify(openApiDocument()).matchAll(/"\$ref":"([^"]+)"/g);
    for (const [, reference = ''] of references) expect(schemaAt(reference)).toBeInstanceOf(Function);
  });

  test('describes what is asked and answered of tasks', async () => {
    const one = await ask('/v1/tasks', {}, { document: task('one'), idempotency_key: 'k1' });
    expect(one).toMatchObject({ status: 202, ...GOOD });
    expect(await ask('/v1/tasks', {}, { document: task('one'), idempotency_key: 'k1' })).toMatchObject({
      status: 200,
      ...GOOD,
    });
    const batch = { tasks: [{ document: task('two') }, { document: 'kind: task/v1' }] };
    expect(await ask('/v1/tasks', {}, batch)).toMatchObject({ status: 200, ...GOOD });
    const lineage = String(one.answer.lineage);
    expect(await ask('/v1/tasks/{lineage}/cancel', { lineage }, {})).toMatchObject({ status: 200, ...GOOD });
    const escalation = { what: 'it is red', stage: 'review', project: 'shop' };
    expect(await ask('/v1/escalations', {}, escalation)).toMatchObject({ status: 202, ...GOOD });
    const event = { specversion: '1.0', id: '1', source: '/review', type: 'fixpoint.escalation', data: escalation };
    expect(await ask('/v1/events', {}, event)).toMatchObject({ status: 202, ...GOOD });
  });

  test('describes what is asked and answered of protocols', async () => {
    const [of, first] = [{ project: 'shop' }, { project: 'shop', version: '1' }];
    expect(await ask('/v1/protocols', {}, { document: PROTOCOL })).toMatchObject({ status: 201, ...GOOD });
    expect(await ask('/v1/protocols/{project}', of)).toMatchObject({ status: 200, ...GOOD });
    expect(await ask('/v1/protocols/{project}/{version}', first)).toMatchObject({ status: 200, ...GOOD });
    expect(await ask('/v1/protocols/{project}/{version}/withdraw', first, { reason: 'bad' })).toMatchObject({
      status: 200,
      ...GOOD,
    });
    expect(await ask('/v1/schemas/{file}', { file: 'task.v1.json' })).toMatchObject({ status: 200, ...GOOD });
  });

  test.each([
    ['/v1/handoffs/{handoff}/decisions', { handoff: 'x.h1' }, { version: 1, decision: { kind: 'retry' } }, 404],
    ['/v1/handoffs/{handoff}/claim', { handoff: 'x.h1' }, { version: 1 }, 404],
    ['/v1/providers/{provider}/resume', { provider: 'git.x' }, {}, 404],
    ['/v1/dead-letters/{letter}/replay', { letter: 'x' }, {}, 404],
    ['/v1/dead-letters/{letter}/discard', { letter: 'x' }, {}, 404],
  ] as const)('describes what is wrong with %s', async (path, values, body, status) => {
    expect(await ask(path, values, body)).toMatchObject({ status, asked: [], answered: [] });
  });

  test.each([
    ['/v1/tasks', { documents: 'x' }],
    ['/v1/tasks/{lineage}/cancel', { task: 'x' }],
    ['/v1/escalations', { what: '' }],
    ['/v1/events', { specversion: '0.3' }],
    ['/v1/handoffs/{handoff}/decisions', { version: 0, decision: { kind: 'shrug' } }],
  ])('refuses what the API refuses of %s', async (path, body) => {
    const { status, asked, answered } = await ask(path, { lineage: 'x', handoff: 'x.h1' }, body);
    expect([status, answered]).toEqual([400, []]);
    expect(asked).not.toEqual([]);
  });
});
