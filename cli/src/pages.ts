/** One page of a list and where the next one begins. */
interface Page<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
}

/** Rows asked for at a time. */
export const PAGE = 500;

/** Every item of a paged list, asked for page by page as they are used. */
export async function* everyItem<Item>(
  page: (cursor: { readonly cursor?: string }) => Promise<Page<Item>>,
): AsyncGenerator<Item> {
  let cursor: string | null = null;
  do {
    const { items, next }: Page<Item> = await page(cursor === null ? {} : { cursor });
    yield* items;
    cursor = next;
  } while (cursor !== null);
}

/** Everything that comes, in order. */
export const allOf = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
};
