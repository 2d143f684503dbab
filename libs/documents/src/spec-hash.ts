import { contentHash } from '@fixpoint/contracts/content-hash';
import type { ProtocolSpec } from '@fixpoint/contracts/documents/protocol';
import type { TaskSpec } from '@fixpoint/contracts/documents/task';

/** sha256, lower-case hex, of a task with all its defaults: equal for two texts that mean the same. */
export const taskSpecHash = (spec: TaskSpec): string => contentHash(spec);

/** The same of a protocol; stands in `protocolRef.hash`. */
export const protocolSpecHash = (spec: ProtocolSpec): string => contentHash(spec);
