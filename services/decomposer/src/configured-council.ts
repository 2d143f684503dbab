import { configuredCouncil } from '@fixpoint/models/configured-models';
import type { CouncilModel } from '@fixpoint/models/council-model';
import type { ModelsSettings } from '@fixpoint/models/model-settings';
import { ConfigError } from '@fixpoint/runtime/settings';
import { structuralCouncil } from './structural/structural-council.ts';

interface Configured {
  readonly council: string;
  readonly models?: ModelsSettings;
  readonly modelKeys?: Readonly<Record<string, string>>;
}

/** Null: nothing is ever split. @throws {ConfigError} when there is no such model, or it is the playbook, which proposes no cuts. */
export const councilOf = ({ council, models = {}, modelKeys: keys = {} }: Configured): CouncilModel | null => {
  if (council === 'none') return null;
  if (council === 'structural') return structuralCouncil;
  const model = configuredCouncil(council, { models, keys });
  if (model === null) throw new ConfigError(`FIXPOINT_COUNCIL: FIXPOINT_MODELS has no language model ${council}`);
  return model;
};
