import type { AgentModel } from '../agent/agent-model.ts';
import type { CouncilModel } from '../council-model.ts';
import type { ModelSettings } from '../model-settings.ts';
import type { RepairModel } from '../models.ts';
import { sdkAgentModel } from './agent.ts';
import { sdkCouncilModel } from './council.ts';
import { languageModel, type SdkAddress } from './language-model.ts';
import { sdkRepairModel } from './repair.ts';

export interface SdkModels {
  readonly repair: RepairModel;
  readonly agent: AgentModel;
  readonly council: CouncilModel;
}

export type SdkSettings = ModelSettings & { readonly model: SdkAddress };

/** One language model in all that it can be asked for. @param secret null: its server asks for none. */
export const sdkModels = (name: string, settings: SdkSettings, secret: string | null): SdkModels => {
  const { model: address, price, timeout_ms: timeoutMs, max_output_tokens: maxOutputTokens } = settings;
  const model = { name, languageModel: languageModel(address, secret), price, timeoutMs, maxOutputTokens };
  return { repair: sdkRepairModel(model), agent: sdkAgentModel(model), council: sdkCouncilModel(model) };
};
