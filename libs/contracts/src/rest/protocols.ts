import { z } from 'zod';
import { protocolSpecSchema } from '../documents/protocol.ts';
import { jsonSchema } from '../json.ts';
import { diagnosticSchema } from './errors.ts';
import { documentSchema } from './tasks.ts';

/** Body of `POST /v1/protocols`: a `protocol/v1` document. Publishing the newest version again changes nothing. */
export const publishProtocolSchema = z.strictObject({ document: documentSchema });
export type PublishProtocol = z.infer<typeof publishProtocolSchema>;

/** 201 when this request published a version, 200 when the newest one says the same. */
export const publishedProtocolSchema = z.object({
  project: z.string(),
  name: z.string(),
  version: z.int().positive(),
  hash: z.string(),
  created: z.boolean(),
  /** Give it to a read as `after` to see this write. */
  cursor: z.string(),
  diagnostics: z.array(diagnosticSchema),
});
export type PublishedProtocol = z.infer<typeof publishedProtocolSchema>;

/** A version of a project's protocol. */
export const protocolVersionSchema = z.object({
  project: z.string(),
  name: z.string(),
  version: z.int().positive(),
  hash: z.string(),
  published_at: z.string(),
  /** Why and when it was withdrawn; null while it may be used. */
  withdrawn: z.object({ reason: z.string(), withdrawn_at: z.string() }).nullable(),
});
export type ProtocolVersionRow = z.infer<typeof protocolVersionSchema>;

/** Answer of `GET /v1/protocols/:project`: the first version first. */
export const protocolListSchema = z.object({ versions: z.array(protocolVersionSchema) });
export type ProtocolList = z.infer<typeof protocolListSchema>;

/** Answer of `GET /v1/protocols/:project/:version`: with everything that it says. */
export const protocolDetailSchema = protocolVersionSchema.extend({ spec: protocolSpecSchema });
export type ProtocolDetail = z.infer<typeof protocolDetailSchema>;

/** Query of `GET /v1/protocols/:project/diff`. */
export const protocolDiffQuerySchema = z.strictObject({
  from: z.coerce.number().int().positive(),
  to: z.coerce.number().int().positive(),
});
export type ProtocolDiffQuery = z.infer<typeof protocolDiffQuerySchema>;

export const protocolDiffSchema = z.object({
  project: z.string(),
  from: z.int().positive(),
  to: z.int().positive(),
  changes: z.array(z.object({ path: z.string(), from: jsonSchema, to: jsonSchema })),
});
export type ProtocolDiff = z.infer<typeof protocolDiffSchema>;

/** Body of `POST /v1/protocols/:project/:version/withdraw`. */
export const withdrawProtocolSchema = z.strictObject({ reason: z.string().min(1).max(2000) });
export type WithdrawProtocol = z.infer<typeof withdrawProtocolSchema>;

/** `changed` is false when it had been withdrawn before; its first reason stays. */
export const withdrawnProtocolSchema = protocolVersionSchema.extend({ changed: z.boolean(), cursor: z.string() });
export type WithdrawnProtocol = z.infer<typeof withdrawnProtocolSchema>;
