import { contentHash } from '@fixpoint/contracts/content-hash';
import type { Finding } from '@fixpoint/contracts/verdict';

const mostCriteria = 20;

/**
 * The criteria that findings name, sorted, each once. Of many the first ones, and a hash of the others: criteria tell two
 * judgements apart, so that none may vanish without a trace.
 */
export const namedCriteria = (findings: readonly Finding[]): string[] => {
  const named = [...new Set(findings.flatMap(({ criterion }) => criterion ?? []))].sort();
  if (named.length <= mostCriteria) return named;
  const others = named.slice(mostCriteria - 1);
  return [...named.slice(0, mostCriteria - 1), `${others.length} more: ${contentHash(others)}`];
};
