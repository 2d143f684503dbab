import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import type { FaultClass } from '@fixpoint/contracts/events/executor-events';
import type { RunKind } from '@fixpoint/contracts/events/lineage-events';
import { type ProviderFaultClass, providerFaultClassSchema } from '@fixpoint/contracts/events/provider-events';

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
  const hosts = new Set(urls.flatMap((url) => hostOf(url) ?? []));
  return [...[...hosts].map((host) => `${GIT}${host}`), ...(asksModel ? [`${MODEL}${plain(node.model)}`] : [])];
};

const GIT = 'git.';
const MODEL = 'model.';

/**
 * The provider that a fault of this class speaks of; null for what happens on our own machines. A network that is down
 * shows first where a run begins: with its repository.
 */
export const providerOfFault = (name: FaultClass, needs: readonly string[]): string | null => {
  if (!isOfProvider(name)) return null;
  const [first] = PREFIXES[name].flatMap((prefix) => needs.filter((provider) => provider.startsWith(prefix)));
  return first ?? null;
};

export const isHost = (provider: string): boolean => provider.startsWith(GIT);

const isOfProvider = (name: FaultClass): name is ProviderFaultClass => providerFaultClassSchema.safeParse(name).success;

const PREFIXES: Readonly<Record<ProviderFaultClass, readonly string[]>> = {
  network: [GIT, MODEL],
  rate_limit: [MODEL],
  provider_auth: [MODEL],
};

const URL_HOST = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/@]*@)?([^/:]+)/i;
const SCP_HOST = /^(?:[^/@:]+@)?([^/:]+):(?!\/\/)/;

/** The host of a git address; null for a folder of this machine. */
const hostOf = (url: string): string | null => {
  if (/^file:/i.test(url) || url.startsWith('/') || url.startsWith('.')) return null;
  const host = URL_HOST.exec(url)?.[1] ?? SCP_HOST.exec(url)?.[1];
  return host === undefined ? null : plain(host.toLowerCase());
};

const plain = (name: string): string => name.replaceAll(/[^A-Za-z0-9_.-]/g, '_');
