import type { InstalledProjection } from '@fixpoint/local/installed-projections';
import { EXIT, Exit } from './exit-codes.ts';

/**
 * The projections of these names; all of them when there is none.
 * @throws {Exit} for a name that no projection has.
 */
export const namedProjections = async (names: readonly string[]): Promise<readonly InstalledProjection[]> => {
  // The services take a second to load, and no other command needs them.
  const { INSTALLED_PROJECTIONS } = await import('@fixpoint/local/installed-projections');
  if (names.length === 0) return INSTALLED_PROJECTIONS;
  return names.map((name) => {
    const found = INSTALLED_PROJECTIONS.find((each) => each.name === name);
    if (found !== undefined) return found;
    const known = INSTALLED_PROJECTIONS.map((each) => each.name).join(', ');
    throw new Exit(EXIT.badInput, `there is no projection ${name}`, `there are ${known}`);
  });
};
