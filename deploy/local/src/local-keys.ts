import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateSigningKeys, type SigningKeys, signingKeysSchema } from '@fixpoint/validator/token-keys';

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

/**
 * The key pair of a local installation, made once and kept in its folder: a token must outlive a restart.
 * Readable by its owner only.
 */
export const localSigningKeys = (folder: string): Promise<SigningKeys> => keysIn(folder, 'token-signing-keys.json');

/** Same for what humans decide. */
export const localDecisionKeys = (folder: string): Promise<SigningKeys> => keysIn(folder, 'decision-signing-keys.json');

const keysIn = async (folder: string, name: string): Promise<SigningKeys> => {
  const file = join(folder, name);
  try {
    return signingKeysSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const keys = generateSigningKeys('local-1');
  await mkdir(folder, { recursive: true });
  await writeFile(file, JSON.stringify(keys), { mode: 0o600, flag: 'wx' });
  return keys;
};
