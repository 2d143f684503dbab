import type { Artifacts } from '@fixpoint/event-store/artifacts';

/**
 * An artifact as UTF-8 text.
 * @returns null when it has more than `mostBytes`.
 * @throws when there is no such artifact: the event that names it came after it was stored.
 */
export const artifactText = async (
  artifacts: Pick<Artifacts, 'get'>,
  hash: string,
  mostBytes: number,
): Promise<string | null> => {
  const chunks = await artifacts.get(hash);
  if (chunks === null) throw new Error(`artifact ${hash} is missing`);
  const read: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > mostBytes) return null;
    read.push(chunk);
  }
  return Buffer.concat(read).toString('utf8');
};
