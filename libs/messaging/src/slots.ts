/**
 * Lets at most `limit` pieces of work run at once; the others wait in the order they came.
 * @returns null when none was free before `patience` resolved: the work did not begin.
 */
export const slots = (
  limit: number,
): (<Result>(work: () => Promise<Result>, patience: Promise<unknown>) => Promise<Result | null>) => {
  const waiting: (() => void)[] = [];
  let free = limit;
  const taken = (patience: Promise<unknown>): Promise<boolean> => {
    if (free > 0) {
      free -= 1;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const take = (): void => resolve(true);
      waiting.push(take);
      void patience.then(() => {
        const place = waiting.indexOf(take);
        if (place === -1) return;
        waiting.splice(place, 1);
        resolve(false);
      });
    });
  };
  const given = (): void => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return async (work, patience) => {
    if (!(await taken(patience))) return null;
    try {
      return await work();
    } finally {
      given();
    }
  };
};
