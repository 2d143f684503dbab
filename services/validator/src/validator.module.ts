import { join } from 'node:path';
import type { Clock, Ids } from '@fixpoint/contracts/clock';
import { STOP_TYPES } from '@fixpoint/contracts/services';
import { stoppedBy } from '@fixpoint/contracts/stopped';
import { protocolCatalog } from '@fixpoint/documents/protocol-catalog';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { stateCache } from '@fixpoint/event-store/state-cache';
import { gitWorkspaces } from '@fixpoint/execution/git-workspaces';
import { removeLeftovers } from '@fixpoint/execution/leftovers';
import { hostRunner, killAbandoned } from '@fixpoint/execution/process-runner';
import type { SandboxPolicy } from '@fixpoint/execution/sandbox/confinement';
import type { Sandbox } from '@fixpoint/execution/sandbox/sandbox';
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
  TELEMETRY,
} from '@fixpoint/runtime/infrastructure';
import type { Log } from '@fixpoint/runtime/log';
import { loop } from '@fixpoint/runtime/loop';
import { preparedSandbox } from '@fixpoint/runtime/prepared-sandbox';
import { listener, reader } from '@fixpoint/runtime/readers';
import { leasedWork, mirrorsLoop } from '@fixpoint/runtime/service-work';
import type { Telemetry } from '@fixpoint/runtime/telemetry/telemetry';
import type { DynamicModule } from '@nestjs/common';
import { changesSinceStart } from './changes.ts';
import type { JudgeConfig } from './config.ts';
import type { Gate } from './domain/gate.ts';
import { gateReader, VALIDATOR_GATE } from './gate-reader.ts';
import { judgeReader, VALIDATOR_JUDGE } from './judge-reader.ts';
import { runTokens } from './run-tokens.ts';
import { signedDecisions } from './signed-decisions.ts';

class ValidatorModule {}

const VALIDATOR = Symbol('VALIDATOR');

type Foundations = Omit<Infrastructure, 'bus' | 'release' | 'metrics' | 'telemetry'> & {
  readonly publisher: Publisher;
  readonly telemetry: Telemetry | null;
};

/** Each is a provider of its own: Nest starts and stops no value inside another one. */
const PARTS = ['gates', 'judge', 'stops', 'leases', 'mirrors'] as const;

type Injected = [EventStore, Publisher, Artifacts, Clock, Ids, Infrastructure['pool'], Log, Telemetry | null];

/** Without keys of decisions none is believed. */
type ValidatorConfig = Omit<JudgeConfig, 'decisionKeys'> & Partial<Pick<JudgeConfig, 'decisionKeys'>>;

/** @param infrastructure made once per process; pass the same object to every service. */
export const validatorModule = (infrastructure: DynamicModule, config: ValidatorConfig): DynamicModule => ({
  module: ValidatorModule,
  imports: [infrastructure],
  providers: [
    {
      provide: VALIDATOR,
      inject: [EVENT_STORE, PUBLISHER, ARTIFACTS, CLOCK, IDS, POOL, LOG, TELEMETRY],
      useFactory: (...[store, publisher, artifacts, clock, ids, pool, log, telemetry]: Injected) =>
        validator({ store, publisher, artifacts, clock, ids, pool, log, telemetry }, config),
    },
    ...PARTS.map((part) => ({
      provide: `VALIDATOR_${part}`,
      inject: [VALIDATOR],
      useFactory: (parts: Awaited<ReturnType<typeof validator>>) => parts[part],
    })),
  ],
});

/** Gates whose state is kept: each is asked about twice, its run apart. */
const KEPT_GATES = 20_000;

/**
 * All that the process runs for this service: two readers, the listener for stop events, the loop for leases. What a
 * predecessor that was killed left running is killed first, and what it left on disk removed.
 */
const validator = async (foundations: Foundations, config: ValidatorConfig) => {
  await killAbandoned(commandsIn(config));
  const { clock, ids, log } = foundations;
  const left = await removeLeftovers(leftoversIn(config));
  if (left > 0) log.warn({ left }, 'not everything that a predecessor left could be removed');
  const work = leasedWork('validator', foundations, config.longConcurrency);
  const decisions = signedDecisions(config.decisionKeys ?? { keys: [] });
  const prepared = await preparedSandbox(config, log);
  const shared = { ...foundations, ...toolsOf(foundations, config, prepared), work, concurrency: config.concurrency };
  return {
    gates: reader(
      gateReader({
        ...shared,
        decisions,
        mint: runTokens(config.signingKeys, { clock, ids }),
        deadLetter: deadLetterOf(foundations, 'validator', VALIDATOR_GATE),
      }),
    ),
    judge: reader(
      judgeReader({
        ...shared,
        decisions,
        changes: changesSinceStart(shared),
        deadLetter: deadLetterOf(foundations, 'validator', VALIDATOR_JUDGE),
      }),
    ),
    stops: listener('validator__stop', STOP_TYPES, ({ event }: Offer) => {
      for (const stopped of stoppedBy(event)) work.stop({ root: event.root, ...stopped });
    }),
    leases: loop('validator__leases', (signal) => work.renew(signal), { clock, log }),
    mirrors: mirrorsLoop('validator', config, foundations),
  };
};

const leftoversIn = ({ folder }: Pick<JudgeConfig, 'folder'>): string[] =>
  ['copies', 'commands', 'workspaces/scratch'].map((name) => join(folder, name));

const commandsIn = ({ folder }: Pick<JudgeConfig, 'folder'>): string => join(folder, 'commands');

const toolsOf = (
  { store, artifacts, telemetry }: Foundations,
  { folder, path }: ValidatorConfig,
  { policy, sandbox }: { readonly policy: SandboxPolicy; readonly sandbox: Sandbox },
) => {
  const runner = hostRunner({ artifacts, folder: commandsIn({ folder }), path, sandbox });
  const catalog = protocolCatalog((stream) => store.readStream(stream));
  return {
    modeOf: catalog.modeOf,
    states: stateCache<Gate>(KEPT_GATES),
    runner: telemetry?.runner(runner) ?? runner,
    sandboxPolicy: policy,
    workspaces: gitWorkspaces({ root: join(folder, 'workspaces'), artifacts, path }),
    copiesFolder: join(folder, 'copies'),
  };
};
