import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { LineageAnswer } from '../reactions/react.ts';
import type { Waiting } from '../waits/wait-rows.ts';
import { HEALER } from './give-up.ts';

/** The healer gives up a `node_ready` as any reader gives up what it can not understand; the lineage tells a human once. */
export const letterAbout = (ready: RecordedEvent, { root, task, run }: Waiting, { message }: Error): LineageAnswer => ({
  type: 'dead_letter',
  letter: {
    ...{ service: 'orchestrator', reader: HEALER, deliveries: 1, reason: message },
    ...{ event_id: ready.id, event_type: ready.type, event_version: ready.schema_version },
    ...{ root, task, run },
  },
});
