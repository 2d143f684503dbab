import type { Line } from '../domain/invoice.ts';

/** A line of a request body: `{ "name", "count", "price" }`, the price as text in euros. */
export const parseLine = (body: { name: string; count: number; price: string }): Line => ({
  name: body.name,
  count: body.count,
  price: Number(body.price),
});
