import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModel } from 'ai';
import type { ModelAddress } from '../model-address.ts';

export type SdkAddress = Exclude<ModelAddress, { kind: 'playbook' }>;

/** @param key null: none is sent, which only servers of one's own accept. */
export const languageModel = (address: SdkAddress, key: string | null): LanguageModel => {
  switch (address.kind) {
    case 'openai-compatible': {
      const { model, baseUrl: baseURL } = address;
      const apiKey = key === null ? {} : { apiKey: key };
      return createOpenAICompatible({ name: 'server', baseURL, supportsStructuredOutputs: true, ...apiKey })(model);
    }
    case 'anthropic':
      return createAnthropic(sold(address, key))(address.model);
    case 'openai':
      return createOpenAI(sold(address, key))(address.model);
    default:
      return address satisfies never;
  }
};

/** An empty key keeps the SDK from looking for one in the environment by itself. */
const sold = ({ baseUrl }: Extract<SdkAddress, { baseUrl: string | null }>, key: string | null) => ({
  apiKey: key ?? '',
  ...(baseUrl !== null && { baseURL: baseUrl }),
});
