import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request, as OpenAI's chat protocol has it. */
interface Chat {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

export interface ModelServer {
  /** What stands before `/chat/completions`. */
  readonly url: string;
  /** What was asked for so far, in order: `repair`, `direction`, `review`. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

const INPUT = 100;
const OUTPUT = 50;

/** A program of ours in place of a language model: it reads the question and answers by what stands in it. */
export const modelServer = async (): Promise<ModelServer> => {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
    const { model, messages } = JSON.parse(text) as Chat;
    const question = messages.map(({ content }) => content).join('\n');
    const { kind, said } = answerTo(question);
    asked.push(kind);
    response.setHeader('content-type', 'application/json');
    const message = { role: 'assistant', content: JSON.stringify(said) };
    const usage = { prompt_tokens: INPUT, completion_tokens: OUTPUT, total_tokens: INPUT + OUTPUT };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    response.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model, choices, usage }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const answerTo = (question: string): { readonly kind: string; readonly said: object } => {
  if (question.includes('You are the adversary')) {
    return { kind: 'review', said: { verdict: 'approve', confidence: 'high', reasons: [] } };
  }
  if (question.includes('Your lens:')) return { kind: 'direction', said: cutOf(question) };
  return { kind: 'repair', said: { corrected: correctedIn(question), reasoning: 'What git and node said.' } };
};

/** Along the parts that the author of the task declared. */
const cutOf = (question: string): object => {
  const declared = /<parts-[0-9a-f]{16}>\n(?<parts>.*)\n<\/parts/.exec(question)?.groups?.parts ?? '[]';
  const parts = JSON.parse(declared) as { name: string; goal: string; paths: string[] }[];
  const slices = parts.map((part) => ({
    ...part,
    salvage: false,
    steps: [{ goal: part.goal, command: 'false', check: null }],
  }));
  return { slices, reasoning: 'The author says where it can be cut.', confidence: 'high' };
};

const correctedIn = (question: string): string =>
  question.includes('execSync')
    ? "git add deps.lock && git commit -q -m 'lock-file'"
    : "git add -A -- . ':(exclude)__pycache__' ':(exclude)go' && git commit -q -m 'deps'";
