import { documentJsonSchemas } from '@fixpoint/documents/json-schemas';
import { HttpProblem } from '@fixpoint/runtime/http-problem';
import { Controller, Get, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

/** JSON by file name; written once, since they only change with the program. */
const SCHEMAS: ReadonlyMap<string, string> = new Map(
  Object.entries(documentJsonSchemas()).map(([file, schema]) => [file, JSON.stringify(schema)]),
);

const HEADERS = {
  'content-type': 'application/schema+json; charset=utf-8',
  'cache-control': 'public, max-age=3600',
  // Editors that are web pages ask from an origin of their own; a schema is no secret.
  'access-control-allow-origin': '*',
} as const;

/** The JSON Schemas of the documents, for editors: without a key, since an editor has none to send. */
@Controller('v1/schemas')
export class SchemasController {
  @Get(':file')
  schema(@Param('file') file: string, @Res() reply: FastifyReply): FastifyReply {
    const schema = SCHEMAS.get(file);
    if (schema === undefined) {
      const detail = `there is no schema of this name; there is: ${[...SCHEMAS.keys()].join(', ')}`;
      throw new HttpProblem(404, { code: 'schema_unknown', detail, diagnostics: [] });
    }
    return reply.headers(HEADERS).send(schema);
  }
}
