import type { AgentModel } from './agent/agent-model.ts';
import type { CouncilModel } from './council-model.ts';
import type { ModelAddress } from './model-address.ts';
import type { ModelSettings, ModelsSettings } from './model-settings.ts';
import type { RepairModel } from './models.ts';
import { playbookModel } from './playbook/playbook.ts';
import type { PlaybookRule } from './playbook/playbook-document.ts';
import type { SdkAddress } from './sdk/language-model.ts';
import type { SdkModels, SdkSettings } from './sdk/sdk-models.ts';

/** Models by the names that tasks use; null for a name that is not configured, or can not do this. */
export interface Models {
  readonly repair: (name: string) => RepairModel | null;
  readonly agent: (name: string) => AgentModel | null;
}

export interface ConfiguredModels {
  readonly models: ModelsSettings;
  /** Values of the variables that hold keys. */
  readonly keys: Readonly<Record<string, string>>;
  readonly rules: readonly PlaybookRule[];
}

export const configuredModels = ({ models, keys, rules }: ConfiguredModels): Models => {
  const repairs = new Map<string, RepairModel>([
    ['default', playbookModel(rules, 'default')],
    ['playbook', playbookModel(rules, 'playbook')],
  ]);
  const agents = new Map<string, AgentModel>();
  for (const [name, settings] of Object.entries(models)) {
    if (!isAsked(settings)) {
      repairs.set(name, playbookModel(rules, name));
      continue;
    }
    const model = whenAsked(name, settings, keys);
    repairs.set(name, model.repair);
    agents.set(name, model.agent);
  }
  return { repair: (name) => repairs.get(name) ?? null, agent: (name) => agents.get(name) ?? null };
};

/** The council of one of the models; null for a name that is none of theirs, or of the playbook. */
export const configuredCouncil = (
  name: string,
  { models, keys }: Pick<ConfiguredModels, 'models' | 'keys'>,
): CouncilModel | null => {
  const settings = models[name];
  return settings !== undefined && isAsked(settings) ? whenAsked(name, settings, keys).council : null;
};

const isAsked = (settings: ModelSettings): settings is SdkSettings => isSdk(settings.model);

const isSdk = (address: ModelAddress): address is SdkAddress => address.kind !== 'playbook';

/** The SDK takes more than half a second to load: that is for the first question, and not for a start that may never ask. */
const whenAsked = (name: string, settings: SdkSettings, keys: ConfiguredModels['keys']): SdkModels => {
  let loading: Promise<SdkModels> | null = null;
  const secret = settings.key === null ? null : (keys[settings.key] ?? null);
  const loaded = (): Promise<SdkModels> => {
    loading ??= import('./sdk/sdk-models.ts').then(({ sdkModels }) => sdkModels(name, settings, secret));
    return loading;
  };
  return {
    repair: { name, propose: async (...asked) => (await loaded()).repair.propose(...asked) },
    agent: { name, run: async (...asked) => (await loaded()).agent.run(...asked) },
    council: {
      name,
      direction: async (...asked) => (await loaded()).council.direction(...asked),
      review: async (...asked) => (await loaded()).council.review(...asked),
    },
  };
};
