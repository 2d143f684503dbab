/** One message of an event stream. */
export interface Message {
  /** Empty when the sender gave none. */
  readonly id: string;
  readonly data: string;
}

/**
 * Messages of an event stream (`text/event-stream`), as they come. Comments (heartbeats) and fields that are not `id` or
 * `data` are skipped; a message that the end cuts off is dropped. Source: HTML standard, "Server-sent events".
 * @param onChunk called for every piece that arrives, heartbeats included.
 */
export async function* messagesOf(
  body: AsyncIterable<Uint8Array>,
  onChunk: () => void = () => undefined,
): AsyncGenerator<Message> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    onChunk();
    rest += decoder.decode(chunk, { stream: true });
    const blocks = rest.split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const message = messageOf(block);
      if (message !== null) yield message;
    }
  }
}

const messageOf = (block: string): Message | null => {
  const fields = block.split(/\r?\n/).map((line) => /^([a-z]*): ?(.*)$/s.exec(line));
  const valuesOf = (name: string): string[] => fields.flatMap((field) => (field?.[1] === name ? [field[2] ?? ''] : []));
  const data = valuesOf('data');
  return data.length === 0 ? null : { id: valuesOf('id').at(-1) ?? '', data: data.join('\n') };
};
