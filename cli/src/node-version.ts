/** Releases before this one miss what the command line is made of. */
const OLDEST = 22;

/** Why this program does not run under a release of Node; null when it does. @param version without the `v` */
export const complaintOfNode = (version: string): string | null =>
  Number.parseInt(version, 10) >= OLDEST
    ? null
    : `it takes Node 24 (or at least ${OLDEST}), and this is Node ${version}; \`npx fixpoint\` finds the right one`;
