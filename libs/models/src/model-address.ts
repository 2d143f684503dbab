/** Where a model is, as configuration writes it. */
export type ModelAddress =
  | { readonly kind: 'playbook' }
  /** A server that speaks OpenAI's chat protocol; `baseUrl` is what stands before `/chat/completions`. */
  | { readonly kind: 'openai-compatible'; readonly model: string; readonly baseUrl: string }
  /** `baseUrl` null: the provider's own. */
  | { readonly kind: 'anthropic' | 'openai'; readonly model: string; readonly baseUrl: string | null };

/**
 * Reads `playbook`, `anthropic:MODEL`, `openai:MODEL` or `openai-compatible:MODEL@URL`; the two providers take an
 * `@URL` too, for a gateway in between.
 * @returns what is wrong, as text, when it is none of them.
 */
export const parseModelAddress = (text: string): ModelAddress | string => {
  if (text === 'playbook') return { kind: 'playbook' };
  const parts = ADDRESS.exec(text)?.groups;
  if (!parts) return 'write playbook, anthropic:MODEL, openai:MODEL or openai-compatible:MODEL@URL';
  const { kind, model = '', url } = parts;
  const baseUrl = url === undefined ? null : httpUrl(url);
  if (url !== undefined && baseUrl === null) return `${url} is no http:// or https:// URL without a user`;
  if (kind === 'anthropic' || kind === 'openai') return { kind, model, baseUrl };
  return baseUrl === null
    ? 'openai-compatible needs the address of a server: openai-compatible:MODEL@URL'
    : { kind: 'openai-compatible', model, baseUrl };
};

/** Names of models may hold colons and slashes (`qwen3:8b`, `org/model`); the last `@` before a scheme starts the URL. */
const ADDRESS = /^(?<kind>anthropic|openai|openai-compatible):(?<model>[^\s@]+)(?:@(?<url>\S+))?$/;

/** Without a slash at its end; null for what is none, or names a user: keys stand in the environment. */
const httpUrl = (text: string): string | null => {
  const url = URL.parse(text);
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  return isPlain ? url.href.replace(/\/+$/, '') : null;
};
