const numbered = (prefix: string, width: number, numbers: string): readonly string[] =>
  numbers.split(' ').flatMap((part) => {
    const [first = 0, last = first] = part.split('-').map(Number);
    return Array.from(
      { length: last - first + 1 },
      (_, index) => `${prefix}${String(first + index).padStart(width, '0')}`,
    );
  });

/** Cases that this release answers for: each is named by a test, or a page says why it has none. */
export const wantedCases: readonly string[] = [
  ...numbered('A', 1, '1-3 5-7 9-11 13-15 17-18'),
  ...numbered('P', 2, '1-31'),
  ...numbered('N', 1, '1-29'),
  ...numbered('S-T', 2, '1-2 4-7 9-12 14-17 19-22 24-27 29-32 34-37 39-42 44-47 49-52 54-57 59-62 64-67 69-72 74-77'),
  ...numbered('S-T', 2, '79-82 84-87 89-92 94-97 99-102 104-107 109-112 114-117'),
  ...numbered('I-T', 2, '1-2 4-7 9-12 14-17 19-22 24-27 29-32 34-37 39-42'),
  ...numbered(
    'H-T',
    2,
    '1-2 4-7 10-12 14-17 19-22 24-27 29-32 34-37 39-42 44-47 49-52 54-57 59-62 64-67 69-72 74-77 79-82',
  ),
  ...numbered('H-T', 2, '84-87 89-92 94-97 99-102 104-105'),
  ...numbered('U-T', 2, '1-2 4-7 9-12 14-17 19-22 24-27 29-32 34-37 39-42 44-47 49-52'),
  ...numbered('B', 1, '1-3 5-7 9-11 13-15 17-19 21-23'),
  ...numbered('C', 1, '1-3 5-7 9-11 13-15 17-19 21-23'),
  ...numbered('D', 1, '1-3 5-7'),
];
