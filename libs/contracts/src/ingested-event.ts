/** Names of headers in lower case. */
export type EventHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** An attribute of an event that can not be read. */
export class AttributeInvalid extends Error {
  override readonly name = 'AttributeInvalid';
}

const PREFIX = 'ce-';
const STRUCTURED = 'application/cloudevents+json';

/**
 * A CloudEvent 1.0 in one piece, however it was sent: in binary mode each attribute is a header and the data is the body; in
 * structured mode, and where no header says that it is an event, the body is all of it.
 * @param body as JSON was parsed. Not checked here: what comes of it has to fit a schema yet.
 * @throws {AttributeInvalid}
 * Source: CloudEvents 1.0.2, HTTP protocol binding (3.1) and NATS protocol binding (3.1).
 */
export const eventInOnePiece = (headers: EventHeaders, body: unknown): unknown => {
  const type = String(headers['content-type'] ?? '');
  if (headers[`${PREFIX}specversion`] === undefined || type.startsWith(STRUCTURED)) return body;
  const attributes = Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith(PREFIX) && typeof value === 'string' ? [[name.slice(PREFIX.length), decoded(name, value)]] : [],
  );
  return { ...Object.fromEntries(attributes), data: body };
};

/** In quotes, or not; and everything that is no printable ASCII percent-encoded. */
const decoded = (name: string, value: string): string => {
  const text = /^".*"$/.test(value) ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value;
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new AttributeInvalid(`${name} is not percent-encoded UTF-8`, { cause });
  }
};
