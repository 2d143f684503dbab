import { createHash } from 'node:crypto';
import { contentHash } from '@fixpoint/contracts/content-hash';
import type { ModeSpec } from '@fixpoint/contracts/documents/protocol';
import type { TaskSpec } from '@fixpoint/contracts/documents/task';
import { fold } from '@fixpoint/decider/decider';
import { lineage } from '@fixpoint/orchestrator/domain/lineage/decide';
import { HASH, NOW, ROOT } from '@fixpoint/orchestrator/domain/lineage/lineage.fixture';
import type { Admitted, Facts } from '@fixpoint/orchestrator/domain/lineage/state';
import { brokenBy } from '../rules/broken-rules.ts';
import type { Allowed, Move, Told } from './answers.ts';
import { lateIn, movesIn } from './moves.ts';

export interface Exploration {
  readonly mode: ModeSpec;
  readonly spec: TaskSpec;
  readonly allowed: Allowed;
  /** States to look at; the rest is left out, and said so. */
  readonly mostStates: number;
}

export interface Explored {
  readonly states: number;
  readonly moves: number;
  /** Late and repeated answers that were told, and changed nothing. */
  readonly late: number;
  /** Longest history. */
  readonly depth: number;
  readonly isWhole: boolean;
  readonly types: readonly string[];
  /** The shortest history that breaks a rule: what was told, and what broke. */
  readonly broken: { readonly path: readonly string[]; readonly what: readonly string[] } | null;
}

interface Place {
  readonly state: Admitted;
  readonly allowed: Allowed;
  readonly before: Place | null;
  readonly move: string;
  readonly depth: number;
}

const pathTo = (place: Place): readonly string[] =>
  place.before === null ? [] : [...pathTo(place.before), place.move];

const decide = (mode: ModeSpec, told: Told, state: Admitted): Facts =>
  lineage.decide({ ...told, now: NOW, mode, askCondition: () => ({ holds: true }) }, state);

const nameOf = ({ state, allowed }: Place): string =>
  createHash('sha1')
    .update(JSON.stringify([state, allowed]))
    .digest('base64');

const submitted = (mode: ModeSpec, spec: TaskSpec): Admitted => {
  const known = { root: ROOT, spec, specHash: contentHash(spec), protocol: { name: 'p', version: 1, hash: HASH } };
  const told = { type: 'submit_task', ...known, idempotencyKey: null } as const;
  const facts = lineage.decide({ ...told, now: NOW, mode, askCondition: () => ({ holds: true }) }, lineage.initial);
  const state = fold(lineage, lineage.initial, facts);
  if (state.status === 'unknown') throw new Error('nothing was submitted');
  return state;
};

/** What was found so far. */
class Search {
  readonly types = new Set<string>();
  readonly seen = new Set<string>();
  moves = 0;
  late = 0;
  broken: Explored['broken'] = null;
  readonly #mode: ModeSpec;

  constructor(mode: ModeSpec) {
    this.#mode = mode;
  }

  /** True the first time. */
  isNew(place: Place): boolean {
    const before = this.seen.size;
    this.seen.add(nameOf(place));
    return this.seen.size > before;
  }

  after(place: Place, move: Move): Place {
    const { state: before } = place;
    const events = decide(this.#mode, move.told, before);
    for (const { type } of events) this.types.add(type);
    const state = fold(lineage, before, events) as Admitted;
    const { costs } = move;
    const allowed = costs === undefined ? place.allowed : { ...place.allowed, [costs]: place.allowed[costs] - 1 };
    const next = { state, allowed, before: place, move: move.name, depth: place.depth + 1 };
    const what = events.length === 0 ? [] : brokenBy({ before, events, after: state, mode: this.#mode });
    if (what.length > 0) this.broken ??= { path: pathTo(next), what };
    this.moves += 1;
    return next;
  }

  tellLate(place: Place): void {
    for (const { name, told } of lateIn(place.state, place.before?.state ?? null)) {
      this.late += 1;
      const types = decide(this.#mode, told, place.state).map(({ type }) => type);
      if (types.length > 0) this.broken ??= { path: [...pathTo(place), `late: ${name}`], what: types };
    }
  }
}

/** Breadth first: the first history that breaks a rule is the shortest. */
export const explore = ({ mode, spec, allowed, mostStates }: Exploration): Explored => {
  const search = new Search(mode);
  const start: Place = { state: submitted(mode, spec), allowed, before: null, move: '', depth: 0 };
  const places: Place[] = [start];
  search.isNew(start);
  let next = 0;
  for (; next < places.length && search.broken === null && search.seen.size < mostStates; next += 1) {
    const place = places[next] ?? start;
    search.tellLate(place);
    const reached = movesIn(place.state, place.allowed).map((move) => search.after(place, move));
    places.push(...reached.filter((each) => search.isNew(each)));
  }
  const { seen, moves, late, types, broken } = search;
  return {
    ...{ states: seen.size, moves, late, broken, types: [...types].sort() },
    depth: places.at(-1)?.depth ?? 0,
    isWhole: next === places.length,
  };
};
