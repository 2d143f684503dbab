import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { parseEvent } from '@fixpoint/contracts/events/parse-event';
import { discardDeadLetter, replayDeadLetter } from '@fixpoint/orchestrator/writing/dead-letters';
import { ask } from './ask.ts';
import type { SimWorld } from './sim-world.ts';

/** What waits for whoever runs the services, of a log that grows: it is read on from where it was. */
class Duties {
  /** Letters that nobody has replayed or discarded. */
  readonly letters = new Set<string>();
  /** Providers that are paused until a human says so. */
  readonly closed = new Set<string>();
  readonly #log: readonly RecordedEvent[];
  #read = 0;

  constructor(log: readonly RecordedEvent[]) {
    this.#log = log;
  }

  look(): void {
    for (const event of this.#log.slice(this.#read)) this.#note(event);
    this.#read = this.#log.length;
  }

  #note(recorded: RecordedEvent): void {
    const letter = recorded.stream.slice('dead-'.length);
    switch (recorded.type) {
      case 'dead_lettered':
        this.letters.add(letter);
        break;
      case 'dead_letter_replayed':
      case 'dead_letter_discarded':
        this.letters.delete(letter);
        break;
      case 'provider_paused':
      case 'provider_retry_asked':
        this.#noteProvider(recorded);
        break;
      default:
    }
  }

  #noteProvider(recorded: RecordedEvent): void {
    const event = parseEvent(recorded);
    if (event.type === 'provider_paused' && event.data.until === null) this.closed.add(event.data.provider);
    if (event.type === 'provider_retry_asked') this.closed.delete(event.data.provider);
  }
}

const MINUTE_MS = 60_000;
const ACTOR = 'operator';

/**
 * Whoever runs the services: looks after dead letters and after providers that wait for a human, at random times. When all
 * is calm only the providers are left: whatever was wrong with them is over.
 */
export const operators = (world: SimWorld): (() => Promise<void>) => {
  const { choices } = world;
  const duties = new Duties(world.log);

  const handle = (letter: string, option: number): Promise<void> =>
    ask(world, ({ orchestrator: { deadLetters } }) =>
      option === 1
        ? replayDeadLetter(deadLetters, { letter, again: false, actor: ACTOR })
        : discardDeadLetter(deadLetters, { letter, reason: 'nobody needs it', actor: ACTOR }),
    );
  const retry = (provider: string): Promise<void> =>
    ask(world, ({ orchestrator: { providers } }) =>
      providers.retry(provider, { reason: 'it should be back', actor: ACTOR }),
    );

  const lookAfterProviders = async (minute: string): Promise<void> => {
    for (const provider of [...duties.closed]) {
      const isWorthATry = choices.isCalm() || choices.happens('provider_retried', `${provider} ${minute}`, 0.3);
      if (isWorthATry) await retry(provider);
    }
  };
  const lookAfterLetters = async (minute: string): Promise<void> => {
    for (const letter of [...duties.letters]) {
      const option = choices.pick('letter_handled', `${letter} ${minute}`, { share: 0.1, options: 2 });
      if (option > 0) await handle(letter, option);
    }
  };

  return async () => {
    const minute = `minute ${Math.floor(world.clock.monotonicMs() / MINUTE_MS)}`;
    duties.look();
    await lookAfterProviders(minute);
    await lookAfterLetters(minute);
  };
};
