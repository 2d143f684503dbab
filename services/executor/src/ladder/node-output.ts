import { canonicalJson } from '@fixpoint/contracts/canonical-json';
import type { Json } from '@fixpoint/contracts/json';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import type { Output } from '@fixpoint/execution/runner';
import { artifactText } from '@fixpoint/validation/artifact-text';

/** What a node hands on: inline up to 32 KiB of text, else by hash. */
export interface NodeOutput {
  readonly output: Json;
  readonly artifact: string | null;
}

export const NO_OUTPUT: NodeOutput = { output: null, artifact: null };

/** Text of more bytes stands in an artifact. */
export const INLINE_BYTES = 32_768;
/** An event holds 64 KiB, and text full of control characters grows six-fold as JSON. */
const INLINE_JSON_BYTES = 40_000;

/**
 * Standard output as JSON where it is JSON that can be kept exactly, else as text; null when nothing was printed.
 * @throws when the artifact store fails.
 */
export const nodeOutput = async (stdout: Output, artifacts: Pick<Artifacts, 'get'>): Promise<NodeOutput> => {
  if (stdout.bytes === 0) return NO_OUTPUT;
  const byHash = { output: null, artifact: stdout.hash };
  if (stdout.bytes > INLINE_BYTES) return byHash;
  const text = stdout.truncated ? await wholeText(stdout, artifacts) : stdout.head + stdout.tail;
  if (text === null) return byHash;
  return fittingOutput(text) ?? byHash;
};

/** An output that is small enough to stand in an event; null for one that is not. Nothing at all is no output. */
export const fittingOutput = (text: string): NodeOutput | null => {
  if (text === '') return NO_OUTPUT;
  const output = outputOfText(text);
  return Buffer.byteLength(canonicalJson(output)) > INLINE_JSON_BYTES ? null : { output, artifact: null };
};

/** A value that somebody handed over as the output: inline where it fits, else as the JSON text of an artifact. */
export const outputOfValue = async (value: Json, artifacts: Pick<Artifacts, 'put'>): Promise<NodeOutput> => {
  const text = canonicalJson(value);
  if (Buffer.byteLength(text) <= INLINE_BYTES) return { output: value, artifact: null };
  return { output: null, artifact: (await artifacts.put(Buffer.from(text))).hash };
};

/** Longest output that checks look into. */
const LONGEST_CHECKED = 16 * 1024 * 1024;

/** The output as checks see it: the whole, also where only its hash fits into an event. Null beyond 16 MiB. */
export const checkedOutput = async (
  { output, artifact }: NodeOutput,
  artifacts: Pick<Artifacts, 'get'>,
): Promise<Json> => {
  const text = artifact === null ? null : await artifactText(artifacts, artifact, LONGEST_CHECKED);
  return text === null ? output : outputOfText(text);
};

const wholeText = async (stdout: Output, artifacts: Pick<Artifacts, 'get'>): Promise<string | null> => {
  const chunks = stdout.hash === null ? null : await artifacts.get(stdout.hash);
  if (chunks === null) return null;
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of chunks) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
};

/** JSON that would not come back exactly (integers beyond 2^53, 1e400) stays the text that it was. */
export const outputOfText = (text: string): Json => {
  try {
    const value = JSON.parse(text) as Json;
    canonicalJson(value);
    return value;
  } catch {
    return text;
  }
};

const isObject = (value: Json): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The check saw the end state: its JSON object lies over the recipe's.. */
export const overlaid = (recipe: NodeOutput, check: Json): NodeOutput => {
  if (!isObject(check)) return recipe;
  if (recipe.artifact !== null) return recipe;
  return { output: isObject(recipe.output) ? { ...recipe.output, ...check } : check, artifact: null };
};
