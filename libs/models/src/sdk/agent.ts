import { generateText, type ModelMessage, type ToolModelMessage, type ToolSet, tool } from 'ai';
import type { z } from 'zod';
import type { AgentBrief, AgentMeans, AgentModel, AgentToolResult, AgentWork } from '../agent/agent-model.ts';
import { AGENT_TOOLS, type AgentCall, agentToolInputs } from '../agent/agent-tools.ts';
import { ABOUT_FENCES, fenced } from '../fenced.ts';
import { QuestionRefused } from './provider-faults.ts';
import { printed } from './repair.ts';
import { boundedCall, NotAffordable, type SdkModel } from './sdk-model.ts';

const INSTRUCTIONS = [
  'You finish one step of an automated task in a folder, with the tools that you have. When you stop, a check that you can not',
  'change decides whether the goal is reached; what you say counts for nothing.',
  'Do what the goal says and nothing beside it. Never take away or weaken a check, and never make a failure look like success.',
  'When the goal is reached, or you see no way to it, answer with a few words on what you did and call no tool.',
  ABOUT_FENCES,
].join('\n');

/** An agent that lets a language model call tools, one after the other. */
export const sdkAgentModel = (model: SdkModel): AgentModel => ({
  name: model.name,
  run: async (brief, means, signal) => {
    if (means.tools.allowed.length === 0) return { outcome: 'declined', summary: 'the task allows it no tool' };
    const messages: ModelMessage[] = [{ role: 'user', content: promptOf(brief) }];
    let calls = 0;
    for (let step = 0; step < means.mostSteps; step += 1) {
      const taken = await takeStep(model, { messages, means, signal });
      calls += taken.calls;
      if (taken.end !== null) return ended(calls, taken.end);
    }
    return ended(calls, `it was stopped after ${means.mostSteps} answers`);
  },
});

const ended = (calls: number, summary: string): AgentWork => ({
  outcome: calls === 0 ? 'declined' : 'worked',
  summary: summary || 'it said nothing',
});

/** One answer, and the calls that it asks for; `end`: it asks for none, and what it says. */
const takeStep = async (model: SdkModel, { messages, means, signal }: Conversation) => {
  const said = await nextAnswer(model, { messages, means, signal });
  if ('ended' in said) return { calls: 0, end: said.ended };
  messages.push(...said.messages);
  for (const call of said.calls) messages.push(await answered(call, means, signal));
  const goesOn = said.calls.length > 0 || said.goesOn;
  return { calls: said.calls.length, end: goesOn ? null : said.text };
};

interface Conversation extends Talk {
  readonly messages: ModelMessage[];
}

interface Talk {
  readonly messages: readonly ModelMessage[];
  readonly means: AgentMeans;
  readonly signal: AbortSignal;
}

/** The next answer; `ended`: there is none, and why. */
const nextAnswer = async (model: SdkModel, { messages, means: { tools, account }, signal }: Talk) => {
  const offered = toolSet(tools.allowed);
  const question = INSTRUCTIONS + JSON.stringify(messages) + tools.allowed.join();
  try {
    return await boundedCall(model, { question, account, signal }, async (options) => {
      const { usage, ...answer } = await asked(model, { messages, offered, options });
      return { answer, usage };
    });
  } catch (error) {
    if (error instanceof QuestionRefused || error instanceof NotAffordable) return { ended: error.message };
    throw error;
  }
};

const asked = async (
  { languageModel: model }: SdkModel,
  { messages, offered, options }: { messages: readonly ModelMessage[]; offered: ToolSet; options: object },
) => {
  const answer = await generateText({
    model,
    instructions: INSTRUCTIONS,
    messages: [...messages],
    tools: offered,
    ...options,
  });
  const { usage, text, finishReason } = answer;
  const calls = answer.toolCalls.filter(({ invalid }) => invalid !== true);
  // What is no call of a tool of ours is told so by the SDK, and the model may try again.
  const goesOn = answer.toolCalls.length > calls.length;
  if (finishReason === 'content-filter')
    return { usage, text: 'it refused to go on', calls: [], goesOn: false, messages: [] };
  return { usage, text, calls, goesOn, messages: answer.response.messages };
};

/** Tools are only named to the SDK: each call is carried out here, one at a time. */
const toolSet = (allowed: AgentMeans['tools']['allowed']): ToolSet =>
  Object.fromEntries(
    AGENT_TOOLS.filter((name) => allowed.includes(name)).map((name) => [
      name,
      tool({ description: DESCRIPTIONS[name], inputSchema: agentToolInputs[name] as z.ZodType<object> }),
    ]),
  );

const DESCRIPTIONS: Readonly<Record<(typeof AGENT_TOOLS)[number], string>> = {
  read_file: 'The text of a file, at most 32 KiB of it from a line on.',
  write_file: 'Writes a whole file, with the folders above it; what is there is replaced.',
  list_files: 'Names in one folder: folders end with /, links with @. Links are not followed.',
  search: 'Lines that hold a text, in a file or below a folder, at most 100.',
  run_command:
    'Runs a text with /bin/sh in the folder, without a terminal. Answers with its exit code and what it printed.',
};

interface Called {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

const answered = async ({ toolCallId, toolName, input }: Called, { tools }: AgentMeans, signal: AbortSignal) => {
  signal.throwIfAborted();
  // The SDK has parsed the input by the schema of the tool with this name.
  const result = await tools.call({ tool: toolName, input } as AgentCall);
  const output = { type: 'text', value: toldOf(result) } as const;
  return { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] } satisfies ToolModelMessage;
};

const toldOf = ({ outcome, exitCode, stdout, stderr, detail }: AgentToolResult): string =>
  [
    exitCode === null ? outcome : `${outcome}, exit code ${exitCode}`,
    detail,
    ...(stdout === '' ? [] : [fenced('output', stdout)]),
    ...(stderr === '' ? [] : [fenced('stderr', stderr)]),
  ]
    .filter((part) => part !== '')
    .join('\n');

const promptOf = ({ intent, goal, recipe, postcondition, brief, failed }: AgentBrief): string =>
  [
    `The whole task:\n${fenced('intent', intent)}`,
    `The goal of this step:\n${fenced('goal', goal)}`,
    `What is run for it, and did not reach it:\n${fenced('recipe', recipe)}`,
    postcondition === null
      ? 'The check: the recipe is run again as it stands, and must end with exit code 0.'
      : `The check:\n${fenced('check', postcondition)}`,
    ...(brief === null ? [] : [`What was tried and what objected to it:\n${fenced('brief', JSON.stringify(brief))}`]),
    ...(failed === null ? [] : failureOf(failed)),
  ].join('\n\n');

const failureOf = ({ command, exitCode, stdout, stderr }: NonNullable<AgentBrief['failed']>): string[] => [
  `Run last, with exit code ${exitCode ?? 'unknown'}:\n${fenced('text', command)}`,
  ...printed('stdout', stdout),
  ...printed('stderr', stderr),
];
