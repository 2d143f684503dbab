import { scriptedAgent } from '@fixpoint/models/agent/scripted-agent.fixture';
import { afterEach, expect, jest, test } from '@jest/globals';
import { admittedSpec } from './second-run.ts';
import { smallInstallation } from './small-installation.ts';

// Real processes on a busy machine.
jest.setTimeout(60_000);

let installation: Awaited<ReturnType<typeof smallInstallation>>;
afterEach(() => installation.close());

const TASK = admittedSpec(`kind: task/v1
name: mend
goal: it is mended
recipe: { command: 'false' }
postcondition: { command: test -e mended }
`);
const WITH_AGENT = { ...TASK, nodes: TASK.nodes.map((node) => ({ ...node, agent_tools: ['run_command'] })) };

test('a unit that stalled is mended by an agent, judged, and completes', async () => {
  installation = await smallInstallation({ agent: scriptedAgent(['touch mended']) });
  const root = await installation.submitSpec(WITH_AGENT);
  const events = await installation.until(root, ({ type }) => type === 'task_completed' || type === 'human_required');
  expect(events.map(({ type }) => type)).not.toContain('human_required');
  expect(events.find(({ type }) => type === 'task_stalled')).toMatchObject({
    data: { auto_agent: { outcome: 'available', model: 'default' } },
  });
  expect(events.filter(({ type }) => type === 'node_ready').at(-1)).toMatchObject({ data: { run_kind: 'agent' } });
});
