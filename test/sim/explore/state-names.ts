import type { Admitted } from '@fixpoint/orchestrator/domain/lineage/state';
import type { Allowed } from './answers.ts';

/**
 * Names of states: equal for equal states, and only for them. States are immutable and share what did not change, so each
 * part is written out once in its life and is a number from then on; a part of other parts is written with their numbers.
 */
export class StateNames {
  readonly #known = new WeakMap<object, number>();
  readonly #numbers = new Map<string, number>();

  of(state: Admitted, allowed: Allowed): string {
    return `${this.#numberOf(state)} ${Object.values(allowed).join()}`;
  }

  #textOf(part: object): string {
    let text = Array.isArray(part) ? '[' : '{';
    for (const [key, value] of Object.entries(part)) text += `${key}:${this.#written(value)},`;
    return text;
  }

  #written(value: unknown): string {
    if (typeof value === 'object' && value !== null) return `#${this.#numberOf(value)}`;
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  }

  #numberOf(part: object): number {
    const known = this.#known.get(part);
    if (known !== undefined) return known;
    const text = this.#textOf(part);
    const number = this.#numbers.get(text) ?? this.#numbers.size;
    this.#numbers.set(text, number);
    this.#known.set(part, number);
    return number;
  }
}
