import type { Line } from '../domain/invoice.ts';

/** A line as it is stored: `name;count;price`, the price in euros. */
export const toRow = ({ name, count, price }: Line): string => [name, count, price.toFixed(2)].join(';');

export const fromRow = (row: string): Line => {
  const [name = '', count = '0', price = '0'] = row.split(';');
  return { name, count: Number(count), price: Number(price) };
};
