import type { Upcast } from './define.ts';

interface Version1 extends Readonly<Record<string, unknown>> {
  readonly allowance?: { readonly time_ms: number };
}

/** Version 1 knew neither merges nor deliveries nor decisions of humans, and no run could spend money. */
const toVersion2: Upcast = ({ allowance, ...data }: Version1) => ({
  ...{ merge: null, deliver: null, verdicts_of: null, decisions: [] },
  ...data,
  ...(allowance && { allowance: { ...allowance, money_micros: 0, tokens: 0 } }),
});

export const nodeReadyUpcasts: readonly Upcast[] = [toVersion2];
