import { join } from 'node:path';
import type { Clock, Ids } from '@fixpoint/contracts/clock';
import { STOP_TYPES } from '@fixpoint/contracts/services';
import { stoppedBy } from '@fixpoint/contracts/stopped';
import { protocolCatalog } from '@fixpoint/documents/protocol-catalog';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { gitWorkspaces } from '@fixpoint/execution/git-workspaces';
import { removeLeftovers } from '@fixpoint/execution/leftovers';
import type { Offer } from '@fixpoint/messaging/bus';
import type { Publisher } from '@fixpoint/messaging/publisher';
import { deadLetterOf } from '@fixpoint/runtime/dead-letters';
import {
  ARTIFACTS,
  CLOCK,
  EVENT_STORE,
  IDS,
  type Infrastructure,
  LOG,
  POOL,
  PUBLISHER,
} from '@fixpoint/runtime/infrastructure';
import type { Log } from '@fixpoint/runtime/log';
import { loop } from '@fixpoint/runtime/loop';
import { listener, reader } from '@fixpoint/runtime/readers';
import { leasedWork, mirrorsLoop } from '@fixpoint/runtime/service-work';
import type { DynamicModule } from '@nestjs/common';
import type { CouncilConfig } from './config.ts';
import { councilOf } from './configured-council.ts';
import { councilReader, DECOMPOSER_COUNCIL } from './council-reader.ts';
import { relevantDocuments } from './relevant-documents.ts';

class DecomposerModule {}

const DECOMPOSER = Symbol('DECOMPOSER');

type Injected = [EventStore, Publisher, Artifacts, Clock, Ids, Infrastructure['pool'], Log];

interface Foundations {
  readonly store: EventStore;
  readonly publisher: Publisher;
  readonly artifacts: Artifacts;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly pool: Infrastructure['pool'];
  readonly log: Log;
}

export interface DecomposerConfig extends Omit<CouncilConfig, 'models'> {
  /** Left out: none. */
  readonly models?: CouncilConfig['models'];
  /** Values of the variables that hold the keys of models. */
  readonly modelKeys?: Readonly<Record<string, string>>;
}

/** Each is a provider of its own: Nest starts and stops no value inside another one. */
const PARTS = ['council', 'stops', 'leases', 'mirrors'] as const;

/** @param infrastructure made once per process; pass the same object to every service. */
export const decomposerModule = (infrastructure: DynamicModule, config: DecomposerConfig): DynamicModule => ({
  module: DecomposerModule,
  imports: [infrastructure],
  providers: [
    {
      provide: DECOMPOSER,
      inject: [EVENT_STORE, PUBLISHER, ARTIFACTS, CLOCK, IDS, POOL, LOG],
      useFactory: (...[store, publisher, artifacts, clock, ids, pool, log]: Injected) =>
        decomposer({ store, publisher, artifacts, clock, ids, pool, log }, config),
    },
    ...PARTS.map((part) => ({
      provide: `DECOMPOSER_${part}`,
      inject: [DECOMPOSER],
      useFactory: (parts: Awaited<ReturnType<typeof decomposer>>) => parts[part],
    })),
  ],
});

/** All that the process runs for this service: a reader, the listener for stop events, the loop for leases. */
const decomposer = async (foundations: Foundations, config: DecomposerConfig) => {
  const { store, artifacts, clock, log } = foundations;
  const { folder, path } = config;
  const left = await removeLeftovers(['copies', 'workspaces/scratch'].map((name) => join(folder, name)));
  if (left > 0) log.warn({ left }, 'not everything that a predecessor left could be removed');
  const work = leasedWork('decomposer', foundations, config.longConcurrency);
  return {
    council: reader(
      councilReader({
        ...foundations,
        timer: clock,
        work,
        modeOf: protocolCatalog((stream) => store.readStream(stream)).modeOf,
        workspaces: gitWorkspaces({ root: join(folder, 'workspaces'), artifacts, path }),
        copiesFolder: join(folder, 'copies'),
        findDocuments: relevantDocuments,
        model: councilOf(config),
        deadLetter: deadLetterOf(foundations, 'decomposer', DECOMPOSER_COUNCIL),
      }),
    ),
    stops: listener('decomposer__stop', STOP_TYPES, ({ event }: Offer) => {
      for (const stopped of stoppedBy(event)) work.stop({ root: event.root, ...stopped });
    }),
    leases: loop('decomposer__leases', (signal) => work.renew(signal), { clock, log }),
    mirrors: mirrorsLoop('decomposer', config, foundations),
  };
};
