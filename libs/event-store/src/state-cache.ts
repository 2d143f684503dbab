import { LRUCache } from 'lru-cache';

/** A stream's folded state and the version it was folded up to. */
export interface CachedState<State> {
  readonly state: State;
  readonly version: number;
}

/**
 * Folded states by stream, the least recently used one leaves first. Only a cache: a state may be older than its stream,
 * which the append at its version finds out.
 */
export interface StateCache<State> {
  get(stream: string): CachedState<State> | undefined;
  set(stream: string, entry: CachedState<State>): void;
  delete(stream: string): void;
}

/** @param limit number of streams kept, at least 1. */
export const stateCache = <State>(limit: number): StateCache<State> =>
  new LRUCache<string, CachedState<State>>({ max: limit });
