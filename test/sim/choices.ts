/**
 * Everything that a seed decides. Each question has a key of its own, and its answer follows from seed and key alone: to
 * take one answer away changes no other, so a failing world can be made smaller one answer after the other.
 */
export interface Choices {
  /** Whether something out of the ordinary happens: with chance `share` in a world where its kind happens at all. */
  happens(kind: string, key: string, share: number): boolean;
  /** 0, the ordinary, or one of the numbers from 1 on. */
  pick(kind: string, key: string, among: Among): number;
  /** From now on nothing out of the ordinary happens. */
  calm(): void;
  isCalm(): boolean;
  /** Answers out of the ordinary so far, in order: `kind key`. */
  readonly taken: readonly string[];
}

/** How likely anything but the ordinary is, and how many such answers there are. */
export interface Among {
  readonly share: number;
  readonly options: number;
}

/** A number from 0 up to 1 that follows from a text (FNV-1a, mixed as in splitmix). */
const fraction = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x21f0aaad);
  hash = Math.imul(hash ^ (hash >>> 15), 0x735a2d97);
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32;
};

/** How much of a kind there is in a world: not any in some, more than usual in others. */
const AMOUNTS = [0, 0.5, 1, 1, 2, 4] as const;

/** @param only when given, nothing but these answers is out of the ordinary. */
export const choices = (seed: number, only?: ReadonlySet<string>): Choices => {
  const amounts = new Map<string, number>();
  const taken = new Set<string>();
  let isCalm = false;

  const amountOf = (kind: string): number => {
    const known = amounts.get(kind) ?? AMOUNTS[Math.floor(fraction(`${seed} amount ${kind}`) * AMOUNTS.length)] ?? 1;
    amounts.set(kind, known);
    return known;
  };

  const pick = (kind: string, key: string, { share, options }: Among): number => {
    if (isCalm) return 0;
    const name = `${kind} ${key}`;
    const most = Math.min(0.9, share * amountOf(kind));
    const drawn = fraction(`${seed} ${name}`);
    if (drawn >= most || (only !== undefined && !only.has(name))) return 0;
    taken.add(name);
    return 1 + Math.floor((drawn / most) * options);
  };

  return {
    pick,
    happens: (kind, key, share) => pick(kind, key, { share, options: 1 }) > 0,
    calm: () => {
      isCalm = true;
    },
    isCalm: () => isCalm,
    get taken() {
      return [...taken];
    },
  };
};
