import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import type { FaultClass } from '@fixpoint/contracts/events/executor-events';
import type { RunKind } from '@fixpoint/contracts/events/lineage-events';
import type { GitSource } from '@fixpoint/contracts/workspace';

export interface Need {
  readonly node: Pick<NodeSpec, 'model' | 'max_repair_attempts' | 'max_agent_attempts'>;
  readonly kind: RunKind;
  readonly source: GitSource | null;
}

/** Models and hosts outside that a run may ask for something; names are safe in the names of streams. */
export const providersOf = ({ node, kind, source }: Need): string[] => {
  const asksModel = kind === 'agent' || (kind === 'normal' && node.max_repair_attempts + node.max_agent_attempts > 0);
  const host = source === null ? null : hostOf(source.url);
  return [...(host === null ? [] : [`git.${host}`]), ...(asksModel ? [`model.${plain(node.model)}`] : [])];
};

/** The provider that a fault of this class speaks of; null for what happens on our own machines. */
export const providerOfFault = (name: FaultClass, needs: readonly string[]): string | null => {
  const prefix = PREFIX_OF[name];
  return prefix === undefined ? null : (needs.find((provider) => provider.startsWith(prefix)) ?? null);
};

const PREFIX_OF: Readonly<Partial<Record<FaultClass, string>>> = {
  network: 'git.',
  rate_limit: 'model.',
  provider_auth: 'model.',
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
