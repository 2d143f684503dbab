import { askHuman, block, objections } from './blocked.ts';
import type { BlockRun, EscalateRun } from './commands.ts';
import { inFlight, type Turn } from './lookup.ts';
import type { Facts } from './state.ts';

const told = (answer: (BlockRun | EscalateRun)['answer']) => ({
  run: answer.run,
  haltType: answer.halt_type,
  rawHaltType: answer.raw_halt_type,
  verdicts: answer.verdicts,
  detail: objections(answer.verdicts),
});

export const blockRun = (command: BlockRun, turn: Turn): Facts => {
  const { answer } = command;
  const flight = inFlight(turn.state, answer.task, answer.run);
  if (flight === null) return [];
  const stop = { ...told(answer), task: flight.task };
  if (answer.outcome === 'halt') return block(turn, stop);
  return askHuman(turn, { ...stop, help: 'needs_authority', phase: 'gate', ref: flight.run.startRef });
};

export const escalateRun = (command: EscalateRun, turn: Turn): Facts => {
  const { answer } = command;
  const flight = inFlight(turn.state, answer.task, answer.run);
  if (flight === null) return [];
  const stop = { ...told(answer), task: flight.task };
  return askHuman(turn, { ...stop, help: 'choice', phase: 'gate', ref: flight.run.startRef });
};
