import { contentHash } from '@fixpoint/contracts/content-hash';
import type { ModeSpec } from '@fixpoint/contracts/documents/protocol';
import type { TaskSpec } from '@fixpoint/contracts/documents/task';
import { fold } from '@fixpoint/decider/decider';
import { Refused } from '@fixpoint/decider/refused';
import { lineage } from '@fixpoint/orchestrator/domain/lineage/decide';
import { HASH, NOW, ROOT } from '@fixpoint/orchestrator/domain/lineage/lineage.fixture';
import type { Admitted, Facts } from '@fixpoint/orchestrator/domain/lineage/state';
import { isLive } from '@fixpoint/orchestrator/domain/lineage/tree';
import { brokenBy } from '../rules/broken-rules.ts';
import type { Allowed, Move, Told } from './answers.ts';
import { overdrawnBy, usesIn } from './budgets.ts';
import { awaitedIn, isAllowed, lateIn, unawaitedIn } from './moves.ts';
import { refusedOffers } from './offers.ts';
import { decisionsIn, type HumanMove } from './people.ts';
import { StateNames } from './state-names.ts';

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
  /** States at which nothing comes by itself any more: ended, or with a human. */
  readonly atRest: number;
  /** Longest history. */
  readonly depth: number;
  readonly isWhole: boolean;
  readonly types: readonly string[];
  /** Kinds of decisions that were taken. */
  readonly decisions: readonly string[];
  /** What was used up to the last somewhere. */
  readonly usedUp: readonly string[];
  /** The shortest history that breaks a rule: what was told, and what broke. */
  readonly broken: { readonly path: readonly string[]; readonly what: readonly string[] } | null;
}

/** A history by its moves. Its state is kept only until all that follows from it is known. */
interface Place {
  readonly before: Place | null;
  readonly move: string;
  readonly depth: number;
}

interface Open {
  readonly place: Place;
  readonly state: Admitted;
  readonly before: Admitted | null;
  readonly allowed: Allowed;
}

const pathTo = ({ before, move }: Place): readonly string[] => (before === null ? [] : [...pathTo(before), move]);

const CONTEXT = { now: NOW, askCondition: () => ({ holds: true }) } as const;

const submitted = (mode: ModeSpec, spec: TaskSpec): Admitted => {
  const known = { root: ROOT, spec, specHash: contentHash(spec), protocol: { name: 'p', version: 1, hash: HASH } };
  const told = { type: 'submit_task', ...known, idempotencyKey: null } as const;
  const state = fold(lineage, lineage.initial, lineage.decide({ ...told, ...CONTEXT, mode }, lineage.initial));
  if (state.status === 'unknown') throw new Error('nothing was submitted');
  return state;
};

const isAtEnd = ({ tasks, root }: Admitted): boolean => !isLive(tasks[root] ?? { status: 'ended' });

const isWithHuman = ({ units }: Admitted): boolean => Object.values(units).some(({ handoff }) => handoff !== null);

/** What was found so far. */
class Search {
  readonly types = new Set<string>();
  readonly decisions = new Set<string>();
  readonly usedUp = new Set<string>();
  readonly seen = new Set<string>();
  moves = 0;
  late = 0;
  atRest = 0;
  depth = 0;
  broken: Explored['broken'] = null;
  readonly #mode: ModeSpec;
  readonly #names = new StateNames();

  constructor(mode: ModeSpec) {
    this.#mode = mode;
  }

  /** True the first time. */
  isNew({ state, allowed }: Open): boolean {
    const before = this.seen.size;
    this.seen.add(this.#names.of(state, allowed));
    return this.seen.size > before;
  }

  /** Everything that may come next. */
  from(open: Open): readonly Open[] {
    const awaited = awaitedIn(open.state);
    if (awaited.length === 0) this.#rest(open);
    const told = [...awaited, ...unawaitedIn(open.state)].filter((move) => isAllowed(move, open.allowed));
    const people = decisionsIn(open.state, this.#mode).filter((move) => isAllowed(move, open.allowed));
    const taken = people.map((move) => ({ move, next: this.#after(open, move) }));
    if (people.length > 0)
      this.#found(
        open.place,
        refusedOffers(open.state, this.#mode, taken.filter(({ next }) => next !== null).map(moveOf)),
      );
    for (const { move, next } of taken) if (next !== null) this.decisions.add(move.kind);
    return [...told.map((move) => this.#after(open, move)), ...taken.map(({ next }) => next)].filter(
      (next) => next !== null,
    );
  }

  /** What comes too late, or once more, changes nothing: it is passed over, or refused. */
  tellLate({ place, state, before }: Open): void {
    for (const { name, told } of lateIn(state, before)) {
      this.late += 1;
      const types = this.#decide(told, state)?.map(({ type }) => type) ?? [];
      this.#found({ before: place, move: `late: ${name}`, depth: place.depth + 1 }, types);
    }
  }

  #rest({ place, state }: Open): void {
    this.atRest += 1;
    if (!isAtEnd(state) && !isWithHuman(state)) this.#found(place, ['it waits for nobody']);
  }

  /** What was decided; null where it was refused. */
  #decide(told: Told, state: Admitted): Facts | null {
    try {
      return lineage.decide({ ...told, ...CONTEXT, mode: this.#mode }, state);
    } catch (cause) {
      if (cause instanceof Refused) return null;
      throw cause;
    }
  }

  /** Null where the move is refused: only people may be. */
  #after({ place, state: before, allowed }: Open, move: Move): Open | null {
    const next = { before: place, move: move.name, depth: place.depth + 1 };
    const events = this.#decide(move.told, before);
    if (events === null) {
      if (move.told.type !== 'decide_handoff') this.#found(next, ['it is refused']);
      return null;
    }
    for (const { type } of events) this.types.add(type);
    const state = fold(lineage, before, events) as Admitted;
    const commit = { before, events, after: state, mode: this.#mode };
    if (events.length > 0) this.#found(next, [...brokenBy(commit), ...overdrawnBy(commit)]);
    for (const { budget, used, limit } of usesIn(state, this.#mode)) if (used === limit) this.usedUp.add(budget);
    this.moves += 1;
    const { costs } = move;
    const left = costs === undefined ? allowed : { ...allowed, [costs]: allowed[costs] - 1 };
    return { place: next, state, before, allowed: left };
  }

  #found(place: Place, what: readonly string[]): void {
    this.depth = Math.max(this.depth, place.depth);
    if (what.length > 0) this.broken ??= { path: pathTo(place), what };
  }
}

const moveOf = ({ move }: { readonly move: HumanMove }): HumanMove => move;

/** Breadth first: the first history that breaks a rule is the shortest. */
export const explore = ({ mode, spec, allowed, mostStates }: Exploration): Explored => {
  const search = new Search(mode);
  const place: Place = { before: null, move: '', depth: 0 };
  const start: Open = { place, state: submitted(mode, spec), before: null, allowed };
  search.isNew(start);
  let level: Open[] = [start];
  const goesOn = (): boolean => search.broken === null && search.seen.size < mostStates;
  while (level.length > 0 && goesOn()) {
    const reached: Open[] = [];
    for (const open of level) {
      if (!goesOn()) break;
      search.tellLate(open);
      reached.push(...search.from(open).filter((each) => search.isNew(each)));
    }
    level = reached;
  }
  const { seen, moves, late, atRest, types, decisions, usedUp, broken, depth } = search;
  return {
    ...{ states: seen.size, moves, late, atRest, depth, broken, isWhole: goesOn() },
    ...{ types: [...types].sort(), decisions: [...decisions].sort(), usedUp: [...usedUp].sort() },
  };
};
