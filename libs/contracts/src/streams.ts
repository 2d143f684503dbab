/** Stream names, one kind per decider. A stream is `<category>-<id>`. */
export const lineageStream = (root: string): string => `lineage-${root}`;
export const protocolStream = (project: string): string => `protocol-${project}`;
/** @param provider `git.HOST` or `model.NAME`. */
export const providerStream = (provider: string): string => `provider-${provider}`;
export const gateStream = (task: string, run: number): string => `gate-${task}-${run}`;
/** Verdicts of a run that are in before its question is answered. */
export const verdictsStream = (task: string, run: number): string => `verdicts-${task}-${run}`;
export const actionStream = (task: string, run: number): string => `action-${task}-${run}`;
export const councilStream = (task: string, request: number): string => `council-${task}-${request}`;
/** @param letter id of a dead letter; it begins with the service whose reader gave the event up. */
export const deadLetterStream = (letter: string): string => `dead-${letter}`;
/** The dead letter that a stream is about; null for streams of other kinds. */
export const deadLetterOfStream = (stream: string): string | null =>
  stream.startsWith('dead-') ? stream.slice('dead-'.length) : null;

/** The category of a stream: what stands before the first dash. */
export const streamCategory = (stream: string): string => stream.slice(0, stream.indexOf('-'));
