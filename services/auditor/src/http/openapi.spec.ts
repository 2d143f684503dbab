import { describe, expect, test } from '@jest/globals';
import { PATH_METADATA } from '@nestjs/common/constants.js';
import { AuditController } from './audit.controller.ts';
import { OPERATIONS, openApiDocument } from './openapi.ts';

const routes = Object.getOwnPropertyNames(AuditController.prototype)
  .filter((name) => name !== 'constructor')
  .map((name): unknown => Reflect.getMetadata(PATH_METADATA, Reflect.get(AuditController.prototype, name)))
  .filter((path) => typeof path === 'string')
  .map((path) => path.replace(/:(\w+)/g, '{$1}'));

describe('OpenAPI document', () => {
  test('has every route of the read API and no other', () => {
    expect(OPERATIONS.map(({ path }) => path).sort()).toEqual(routes.sort());
  });

  test('refers only to schemas that it has', () => {
    const text = JSON.stringify(openApiDocument());
    const names = [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"/]+)"/g)].map(([, name]) => name);
    expect(names).toContain('LineagePage');
    expect(text.match(/"\$ref":"(?!#\/components\/schemas\/)/g)).toBeNull();
    expect(text).not.toContain('__shared');
    const { components } = openApiDocument() as { components: { schemas: object } };
    expect(names.filter((name) => name !== undefined && !(name in components.schemas))).toEqual([]);
  });

  test('describes filters and limits as they are checked', () => {
    const { paths } = openApiDocument() as { paths: Record<string, { get: { parameters: unknown[] } }> };
    expect(paths['/v1/audit/lineages']?.get.parameters).toContainEqual({
      name: 'limit',
      in: 'query',
      required: false,
      schema: expect.objectContaining({ type: 'integer', minimum: 1, maximum: 1000, default: 100 }),
    });
    expect(paths['/v1/audit/events/stream']?.get.parameters).toContainEqual(
      expect.objectContaining({ name: 'lineage', required: true }),
    );
    expect(paths['/v1/audit/lineages/{id}']?.get.parameters[0]).toMatchObject({
      name: 'id',
      in: 'path',
      required: true,
    });
  });
});
