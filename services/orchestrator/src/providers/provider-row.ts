import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { type AskingRun, askingRunSchema } from '@fixpoint/contracts/events/provider-events';
import { z } from 'zod';

/** How a provider stands that was paused at least once. */
export interface ProviderRow {
  readonly provider: string;
  /** Of its stream: what is newer knows better. */
  readonly version: number;
  readonly status: 'open' | 'paused' | 'probing';
  /** While paused: when it may be probed (ISO 8601); null when a human says so. */
  readonly paused_until: string | null;
  /** Id of the event that says so: what is decided on it has it for its cause. */
  readonly event: string;
  /** While probing. */
  readonly probe: AskingRun | null;
  /** ISO 8601. */
  readonly since: string;
}

/** `human`: paused until somebody says that it may be tried. */
export type ProviderCounts = Readonly<Record<ProviderRow['status'] | 'human', number>>;

export const countsOf = (rows: readonly ProviderRow[]): ProviderCounts => {
  const counts = { open: 0, paused: 0, probing: 0, human: 0 };
  for (const { status, paused_until: until } of rows)
    counts[status === 'paused' && until === null ? 'human' : status] += 1;
  return counts;
};

const named = z.object({ provider: z.string() });
const pausedSchema = named.extend({ until: z.iso.datetime().nullable() });
const probedSchema = named.extend({ probe: askingRunSchema });
const askedSchema = named.extend({ asked_at: z.iso.datetime() });

type Standing = Pick<ProviderRow, 'provider' | 'status' | 'paused_until' | 'probe'>;

const RESTING = { paused_until: null, probe: null } as const;

const STANDINGS: Readonly<Record<string, z.ZodType<Standing>>> = {
  provider_paused: pausedSchema.transform(({ provider, until }) => ({
    ...{ provider, status: 'paused' as const, paused_until: until, probe: null },
  })),
  provider_probed: probedSchema.transform(({ provider, probe }) => ({
    ...{ ...RESTING, provider, status: 'probing' as const, probe },
  })),
  provider_resumed: named.transform(({ provider }) => ({ ...RESTING, provider, status: 'open' as const })),
  provider_retry_asked: askedSchema.transform(({ provider, asked_at }) => ({
    ...{ ...RESTING, provider, status: 'paused' as const, paused_until: asked_at },
  })),
};

/** What an event says of how a provider stands, all of it; null for every other event, and for one that nobody understands. */
export const providerRow = (event: RecordedEvent): ProviderRow | null => {
  const parsed = STANDINGS[event.type]?.safeParse(event.data);
  if (parsed?.success !== true) return null;
  return { ...parsed.data, event: event.id, version: event.version, since: event.occurred_at };
};
