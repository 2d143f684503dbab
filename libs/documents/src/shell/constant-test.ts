const COMPARISONS: Readonly<Record<string, (a: string, b: string) => boolean>> = {
  '=': (a, b) => a === b,
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '-eq': (a, b) => Number(a) === Number(b),
  '-ne': (a, b) => Number(a) !== Number(b),
  '-le': (a, b) => Number(a) <= Number(b),
  '-ge': (a, b) => Number(a) >= Number(b),
};

/** What `test` says of constants; null when it asks the world. */
export const constantTest = (operands: readonly string[]): boolean | null => {
  const [first = '', second = '', third = ''] = operands;
  if (operands.length <= 1) return first !== '';
  if (first === '!') return opposite(constantTest(operands.slice(1)));
  if (operands.length === 2) return constantUnary(first, second);
  const compare = operands.length === 3 && Object.hasOwn(COMPARISONS, second) ? COMPARISONS[second] : undefined;
  return compare?.(first, third) ?? null;
};

const opposite = (holds: boolean | null): boolean | null => (holds === null ? null : !holds);

const constantUnary = (operator: string, operand: string): boolean | null => {
  if (operator === '-n') return operand !== '';
  return operator === '-z' ? operand === '' : null;
};
