import type { Ground } from '../world/foundations.ts';
import {
  type OrchestratorProcess,
  startDecomposer,
  startExecutor,
  startOrchestrator,
  startValidator,
} from '../world/services.ts';
import type { SimulatedProcess } from '../world/simulated-process.ts';

const SERVICES = ['orchestrator', 'validator', 'executor', 'decomposer'] as const;
type Service = (typeof SERVICES)[number];

/** Some processes of every service; each that is killed is followed by another one. */
export interface Staff {
  /** Those that are alive. */
  processes(): readonly SimulatedProcess[];
  orchestrators(): readonly OrchestratorProcess[];
  isStarting(): boolean;
  /** Ends a process; another one starts after `downMs`. */
  crash(process: SimulatedProcess, downMs: number): void;
}

/** @param replicas processes of each service. */
export const startStaff = async (
  ground: () => Ground,
  replicas: (service: string) => number,
  onProblem: (error: unknown) => void,
): Promise<Staff> => {
  let orchestrators: OrchestratorProcess[] = [];
  let processes: SimulatedProcess[] = [];
  let started = 0;
  let starting = 0;

  const begin = async (service: Service): Promise<SimulatedProcess> => {
    started += 1;
    const name = `${service}-${started}`;
    switch (service) {
      case 'orchestrator': {
        const orchestrator = await startOrchestrator(ground(), name);
        orchestrators.push(orchestrator);
        return orchestrator.process;
      }
      case 'validator':
        return startValidator(ground(), name);
      case 'executor':
        return startExecutor(ground(), name);
      default:
        return startDecomposer(ground(), name);
    }
  };
  const start = async (service: Service): Promise<void> => {
    starting += 1;
    const process = await begin(service);
    processes = [...processes, process];
    starting -= 1;
  };
  const serviceOf = ({ name }: SimulatedProcess): Service =>
    SERVICES.find((service) => name.startsWith(service)) ?? 'orchestrator';

  for (const service of SERVICES) {
    for (let replica = 0; replica < replicas(service); replica += 1) await start(service);
  }

  return {
    processes: () => processes,
    orchestrators: () => orchestrators,
    isStarting: () => starting > 0,
    crash: (process, downMs) => {
      process.kill();
      processes = processes.filter((each) => each !== process);
      orchestrators = orchestrators.filter((each) => each.process !== process);
      const again = async (): Promise<void> => {
        if (downMs > 0) await ground().clock.sleep(downMs);
        await start(serviceOf(process));
      };
      again().catch(onProblem);
    },
  };
};
