import { describe, expect, test } from '@jest/globals';
import { modelEnvironment, modelsIn, withModels } from './model-environment.ts';

const MODELS = JSON.stringify({
  claude: { model: 'anthropic:claude-sonnet-4-5', key: 'CLAUDE_KEY', price: { input: 1, output: 2 } },
  own: { model: 'openai-compatible:qwen3@http://127.0.0.1:1/v1' },
});
const ENV = { FIXPOINT_MODELS: MODELS, FIXPOINT_COUNCIL: 'own', CLAUDE_KEY: 'secret', OTHER: 'x' };

describe('what an installation is told of models', () => {
  test('is what they are, who the council is, and their keys; nothing else of the environment', () => {
    expect(modelEnvironment(ENV)).toEqual({ FIXPOINT_MODELS: MODELS, FIXPOINT_COUNCIL: 'own', CLAUDE_KEY: 'secret' });
    expect(modelEnvironment({ OTHER: 'x' })).toEqual({});
    expect(modelsIn(ENV)).toMatchObject({
      council: 'own',
      modelKeys: { CLAUDE_KEY: 'secret' },
      names: { known: ['default', 'playbook', 'claude', 'own'], agents: ['claude', 'own'] },
    });
  });

  test('is refused when a key that it names is not there, and when it can not be read', () => {
    expect(() => modelEnvironment({ ...ENV, CLAUDE_KEY: '' })).toThrow('CLAUDE_KEY');
    expect(() => modelEnvironment({ FIXPOINT_MODELS: '{"a":{}}' })).toThrow('FIXPOINT_MODELS');
  });

  test('reaches the processes that need it, and its keys only those that ask', () => {
    const [orchestrator, validator, executor, decomposer] = [{ A: '1' }, {}, {}, {}];
    const told = withModels({ orchestrator, validator, executor, decomposer }, modelEnvironment(ENV));
    expect(told.orchestrator).toEqual({ A: '1', FIXPOINT_MODELS: MODELS });
    expect(told.validator).toEqual({});
    expect(told.executor).toMatchObject({ FIXPOINT_MODELS: MODELS, CLAUDE_KEY: 'secret' });
    expect(told.decomposer).toMatchObject({ FIXPOINT_COUNCIL: 'own', CLAUDE_KEY: 'secret' });
  });
});
