import type { Json } from '@fixpoint/contracts/json';

/** What a good run put out; a check that later closes the node puts out nothing of its own. */
export interface HeldOutput {
  readonly output: Json;
  readonly outputArtifact: string | null;
}

export const NO_OUTPUT: HeldOutput = { output: null, outputArtifact: null };
