/** Where a NATS is, as its client wants to know it. */
export interface NatsAddress {
  readonly servers: string[];
  readonly user?: string;
  readonly pass?: string;
}

/**
 * Reads `nats://user:password@host:4222`, several with commas. The client takes no credentials from a URL, so the first
 * ones that are named count for all servers; they are percent-encoded, as in every URL.
 */
export const natsAddress = (url: string): NatsAddress => {
  const parts = url.split(',').map((each) => /^(\w+:\/\/)(?:([^@/]*)@)?(.*)$/.exec(each.trim()));
  const servers = parts.map((part, at) => (part === null ? (url.split(',')[at] ?? '') : `${part[1]}${part[3]}`));
  const [user, ...pass] = parts.find((part) => part?.[2] !== undefined)?.[2]?.split(':') ?? [];
  if (user === undefined) return { servers };
  return { servers, user: decodeURIComponent(user), pass: decodeURIComponent(pass.join(':')) };
};
