import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What one request is answered with. */
export type Answer =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body: unknown }
  /** The connection is cut in the middle of the body. */
  | { readonly cutAfter: string }
  /** Nothing comes until the caller gives up. */
  | 'silence';

export interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly [key: string]: unknown };
}

export interface ProviderServer {
  readonly url: string;
  /** Requests so far, in their order. */
  readonly asked: readonly Asked[];
  /** Answers for the next requests, in their order; the last one for all that follow. */
  answers(...answers: readonly Answer[]): void;
  close(): Promise<void>;
}

/** A server on this machine in place of a provider: requests are kept as they came, answers are sent as they were recorded. */
export const providerServer = async (): Promise<ProviderServer> => {
  const asked: Asked[] = [];
  let answers: Answer[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
    asked.push({ path: request.url ?? '', headers: request.headers, body: JSON.parse(text) });
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    send(response, answer ?? { status: 500, body: 'nothing is left to be said' });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answers: (...more) => {
      answers = [...more];
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const send = (response: ServerResponse, answer: Answer): void => {
  if (answer === 'silence') return;
  if ('cutAfter' in answer) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100000' });
    response.write(answer.cutAfter, () => response.destroy());
    return;
  }
  response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
  response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
};

export interface Usage {
  readonly input: number;
  readonly output: number;
}

const USED: Usage = { input: 100, output: 20 };

/** An answer in OpenAI's chat protocol. */
export const chatAnswer = (message: object, { finish = 'stop', usage = USED as Usage | null } = {}): Answer => ({
  status: 200,
  body: {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'qwen3',
    choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: finish }],
    ...(usage && {
      usage: {
        prompt_tokens: usage.input,
        completion_tokens: usage.output,
        total_tokens: usage.input + usage.output,
      },
    }),
  },
});

/** A call of a tool in OpenAI's chat protocol. */
export const chatToolCall = (name: string, input: object | string, id = 'call-1'): Answer =>
  chatAnswer(
    {
      tool_calls: [
        {
          id,
          type: 'function',
          function: { name, arguments: typeof input === 'string' ? input : JSON.stringify(input) },
        },
      ],
    },
    { finish: 'tool_calls' },
  );

/** An answer of Anthropic's messages protocol. */
export const anthropicAnswer = (content: readonly object[], stop = 'end_turn'): Answer => ({
  status: 200,
  body: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content,
    stop_reason: stop,
    stop_sequence: null,
    usage: { input_tokens: 100, output_tokens: 20 },
  },
});

/** An answer of OpenAI's responses protocol. */
export const responsesAnswer = (text: string): Answer => ({
  status: 200,
  body: {
    id: 'resp_1',
    object: 'response',
    created_at: 1_790_000_000,
    status: 'completed',
    model: 'gpt-5',
    error: null,
    incomplete_details: null,
    output: [
      {
        type: 'message',
        id: 'msg_1',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text, annotations: [] }],
      },
    ],
    usage: { input_tokens: 100, output_tokens: 20, total_tokens: 120 },
  },
});
