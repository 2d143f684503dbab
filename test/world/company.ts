import type { Ground } from './foundations.ts';
import {
  type OrchestratorProcess,
  startDecomposer,
  startExecutor,
  startOrchestrator,
  startValidator,
} from './services.ts';
import type { SimulatedProcess } from './simulated-process.ts';

/** One process of every service that answers, and others in place of those that were killed. */
export interface Company {
  readonly processes: readonly SimulatedProcess[];
  readonly orchestrator: () => OrchestratorProcess;
  replace(process: SimulatedProcess): Promise<void>;
}

type Starts = Readonly<Record<string, (name: string) => Promise<SimulatedProcess>>>;

export const startCompany = async (ground: Ground): Promise<Company> => {
  const processes: SimulatedProcess[] = [];
  let orchestrator = await startOrchestrator(ground, 'orchestrator-1');
  processes.push(orchestrator.process);
  const starts: Starts = {
    orchestrator: async (name) => {
      orchestrator = await startOrchestrator(ground, name);
      return orchestrator.process;
    },
    validator: (name) => startValidator(ground, name),
    executor: (name) => startExecutor(ground, name),
    decomposer: (name) => startDecomposer(ground, name),
  };
  for (const service of ['validator', 'executor', 'decomposer']) {
    processes.push(await start(starts, service, 1));
  }
  return {
    processes,
    orchestrator: () => orchestrator,
    replace: async (process) => {
      process.kill();
      const [service = '', generation = ''] = process.name.split('-');
      processes.push(await start(starts, service, Number(generation) + 1));
    },
  };
};

/** No two processes have the same name: it is the owner of what they lease. */
const start = (starts: Starts, service: string, generation: number): Promise<SimulatedProcess> => {
  const begin = starts[service];
  if (begin === undefined) throw new Error(`there is no service ${service}`);
  return begin(`${service}-${generation}`);
};
