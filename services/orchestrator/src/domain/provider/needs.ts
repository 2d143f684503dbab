import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import type { FaultClass } from '@fixpoint/contracts/events/executor-events';
import { type ProviderFaultClass, providerFaultClassSchema } from '@fixpoint/contracts/events/provider-events';
import type { RunKind } from '@fixpoint/contracts/events/run-kind';
import { gitProvider, isGitProvider, modelProvider } from '@fixpoint/contracts/provider-name';

export interface Need {
  /** `model`: whichever the run would ask. */
  readonly node: Pick<NodeSpec, 'model' | 'max_repair_attempts' | 'max_agent_attempts'>;
  readonly kind: RunKind;
  /** Repositories that it fetches from or pushes to. */
  readonly urls: readonly string[];
}

/** Models and hosts outside that a run may ask for something; names are safe in the names of streams. */
export const providersOf = ({ node, kind, urls }: Need): string[] => {
  const asksModel = kind === 'agent' || (kind === 'normal' && node.max_repair_attempts + node.max_agent_attempts > 0);
  const hosts = new Set(urls.flatMap((url) => gitProvider(url) ?? []));
  return [...hosts, ...(asksModel ? [modelProvider(node.model)] : [])];
};

/**
 * The provider that a fault of this class speaks of; null for what happens on our own machines. A network that is down
 * shows first where a run begins: with its repository.
 */
export const providerOfFault = (name: FaultClass, needs: readonly string[]): string | null => {
  if (!isOfProvider(name)) return null;
  const models = needs.filter((provider) => !isGitProvider(provider));
  const [first] = name === 'network' ? [...needs.filter(isGitProvider), ...models] : models;
  return first ?? null;
};

const isOfProvider = (name: FaultClass): name is ProviderFaultClass => providerFaultClassSchema.safeParse(name).success;
