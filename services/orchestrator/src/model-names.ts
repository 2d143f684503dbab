/** Models of this installation, as tasks and protocols name them. */
export interface ModelNames {
  /** What `recovery.model` may say. */
  readonly known: readonly string[];
  /** Those of them that can act as an agent. */
  readonly agents: readonly string[];
}

/** Every installation has the playbook. */
export const ONLY_THE_PLAYBOOK: ModelNames = { known: ['default', 'playbook'], agents: [] };
