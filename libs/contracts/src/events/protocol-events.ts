import { z } from 'zod';
import { protocolSpecSchema } from '../documents/protocol.ts';
import { defineEvent, sha256Schema } from './define.ts';

/** What version 1 had as constants, by the values that they had. */
const BOUNDS_OF_V1 = {
  ...{ auto_agent_max_attempts: 3, integrate: 3, max_recompose_attempts: 5, regates: 24 },
  ...{ max_money_micros: 50_000_000, max_tokens: 20_000_000, run_money_micros: 1_000_000, run_tokens: 500_000 },
};
const MODE_OF_V1 = {
  handoff_warnings: [50, 90],
  handoff_on_expiry: 'keep',
  auto_agent_model: null,
  council_timeout_ms: 900_000,
  hop_slack_ms: 300_000,
  fix_timeout_ms: 3_600_000,
};

type Fields = Readonly<Record<string, unknown>>;
interface ModeV1 {
  readonly bounds: Fields;
}
interface PublishedV1 {
  readonly spec?: { readonly modes?: Readonly<Record<string, ModeV1>> };
}

const modeWithNewFields = (mode: ModeV1): unknown => ({
  ...MODE_OF_V1,
  ...mode,
  bounds: { ...BOUNDS_OF_V1, ...mode.bounds },
});

/** Bounds and times that were constants became fields of a mode. */
const withNewFields = (data: PublishedV1): unknown => {
  const modes = Object.entries(data.spec?.modes ?? {}).map(([name, mode]) => [name, modeWithNewFields(mode)]);
  return data.spec === undefined ? data : { ...data, spec: { ...data.spec, modes: Object.fromEntries(modes) } };
};

export const protocolPublished = defineEvent({
  type: 'protocol_published',
  owners: ['orchestrator'],
  version: 2,
  description: 'A version of a project protocol. Lineages admitted from now on run under it.',
  data: z.object({
    project: z.string(),
    name: z.string(),
    protocol_version: z.int().positive(),
    hash: sha256Schema,
    spec: protocolSpecSchema,
    published_at: z.string(),
  }),
  upcasts: [withNewFields],
});

export const protocolWithdrawn = defineEvent({
  type: 'protocol_withdrawn',
  owners: ['orchestrator'],
  version: 1,
  description:
    'A version must not be used any more: nothing is admitted under it, and what runs under it starts nothing new.',
  data: z.object({
    project: z.string(),
    name: z.string(),
    protocol_version: z.int().positive(),
    hash: sha256Schema,
    reason: z.string(),
    withdrawn_at: z.string(),
  }),
});
