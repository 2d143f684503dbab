/**
 * The pure core of one kind of stream.
 *
 * `decide` returns facts, `[]` when it is already so, or throws {@link Refused} when a rule forbids it.
 * `evolve` is total: history cannot be refused, unknown events return the state unchanged.
 * Neither reads a clock, draws an id, nor performs I/O: everything arrives in the command.
 */
export interface Decider<Command, Event, State> {
  readonly initial: State;
  decide(command: Command, state: State): readonly Event[];
  evolve(state: State, event: Event): State;
}

/** State after a history; later events win. */
export const fold = <Event, State>(
  decider: Pick<Decider<never, Event, State>, 'evolve'>,
  state: State,
  events: Iterable<Event>,
): State => {
  let folded = state;
  for (const event of events) folded = decider.evolve(folded, event);
  return folded;
};
