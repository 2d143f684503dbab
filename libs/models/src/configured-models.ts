import type { AgentModel } from './agent/agent-model.ts';
import type { ModelAddress } from './model-address.ts';
import type { ModelSettings, ModelsSettings } from './model-settings.ts';
import type { RepairModel } from './models.ts';
import { playbookModel } from './playbook/playbook.ts';
import type { PlaybookRule } from './playbook/playbook-document.ts';
import { sdkAgentModel } from './sdk/agent.ts';
import { languageModel, type SdkAddress } from './sdk/language-model.ts';
import { sdkRepairModel } from './sdk/repair.ts';
import type { SdkModel } from './sdk/sdk-model.ts';

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

/** Answers of an agent in one run; enough for work of an hour, and an end for one that goes in circles. */
const MOST_STEPS = 100;

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
    const model = sdkModel(name, settings, keys);
    repairs.set(name, sdkRepairModel(model));
    agents.set(name, sdkAgentModel(model, MOST_STEPS));
  }
  return { repair: (name) => repairs.get(name) ?? null, agent: (name) => agents.get(name) ?? null };
};

type Asked = ModelSettings & { readonly model: SdkAddress };

const isAsked = (settings: ModelSettings): settings is Asked => isSdk(settings.model);

const isSdk = (address: ModelAddress): address is SdkAddress => address.kind !== 'playbook';

const sdkModel = (name: string, settings: Asked, keys: ConfiguredModels['keys']): SdkModel => {
  const { model, key, price, timeout_ms: timeoutMs, max_output_tokens: maxOutputTokens } = settings;
  const secret = key === null ? null : (keys[key] ?? null);
  return { name, languageModel: languageModel(model, secret), price, timeoutMs, maxOutputTokens };
};
