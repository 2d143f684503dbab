export interface Line {
  readonly name: string;
  readonly price: number;
  readonly count: number;
}

/** Amount of an invoice, in euros. */
export const total = (lines: readonly Line[]): number => lines.reduce((sum, line) => sum + line.price * line.count, 0);
