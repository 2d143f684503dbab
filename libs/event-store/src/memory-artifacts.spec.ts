import { artifactsContract } from './artifacts.contract.ts';
import { memoryArtifacts } from './memory-artifacts.ts';

artifactsContract('memory', () => Promise.resolve({ artifacts: memoryArtifacts(), close: () => Promise.resolve() }));
