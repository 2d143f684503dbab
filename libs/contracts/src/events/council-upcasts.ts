/** Events of councils and their requests as they were before anybody was ever asked. Never edited once released. */

const NOTHING_SPENT = { duration_ms: 0, money_micros: 0, tokens: 0 };

interface RequestV1 {
  readonly intent: string;
  readonly budget: object;
  readonly workspace_ref: { readonly source: unknown } | null;
}

/** Nobody could answer one of these with anything but no, so what it does not say is empty. */
export const requestToVersion2 = ({ budget, ...data }: RequestV1) => ({
  ...data,
  scope: { project: '', mode: '' },
  protocol: { name: 'default', version: 1, hash: '' },
  goal: data.intent,
  ...{ node: null, nodes: [], inputs: {}, declared_parts: null, split_depth: 0 },
  ...{ stalled_run: null, failures: [], hint: null, base_ref: null },
  source: data.workspace_ref?.source ?? null,
  budget: { ...budget, time_ms: 300_000, money_micros: 0, tokens: 0 },
});

export const convenedToVersion2 = (data: object) => ({ ...data, adapter: null, documents: [] });

export const decidedToVersion2 = (data: object) => ({
  ...data,
  confidence: 'high',
  adapter: null,
  spent: NOTHING_SPENT,
});
