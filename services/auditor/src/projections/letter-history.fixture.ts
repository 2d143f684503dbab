export const LETTER = 'validator-0192d3a4-b5c6-8def-8123-456789abcdef';

const ref = {
  ...{ letter: LETTER, service: 'validator', reader: 'validator__gate', event_id: 'e1', event_type: 'node_ready' },
  ...{ root: 'r1', task: 'r1', run: 1 },
};

export const deadLettered = (
  deliveries = 5,
  more: { readonly event_id?: string; readonly root?: string | null } = {},
) => ({
  type: 'dead_lettered',
  data: {
    ...{ service: 'validator', reader: 'validator__gate', event_id: 'e1', event_type: 'node_ready', event_version: 9 },
    ...{ root: 'r1', task: 'r1', run: 1, deliveries, reason: 'no idea' },
    ...more,
  },
});

export const deadLetterReplayed = (replays: number) => ({
  type: 'dead_letter_replayed',
  data: { ...ref, deliveries: 5, replays },
});

export const deadLetterDiscarded = () => ({
  type: 'dead_letter_discarded',
  data: { ...ref, deliveries: 5, reason: 'not needed' },
});
