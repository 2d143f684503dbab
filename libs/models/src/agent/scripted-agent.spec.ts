import { agentModelContract } from './agent-model.contract.ts';
import { scriptedAgent } from './scripted-agent.fixture.ts';

const doable = { intent: 'a', goal: 'b', recipe: 'false', postcondition: null, brief: null, failed: null };

agentModelContract('a scripted agent', async () => ({ model: scriptedAgent(['touch done']), doable }));
