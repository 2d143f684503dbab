import { API, EpicPlay, slice, splitInTwo, WEB } from './epics/epic.fixture.ts';
import { mode, nodeSpec, ROOT, ref, SILENCE, taskSpec, verdict } from './lineage.fixture.ts';

type From = () => EpicPlay;

const submitted: From = () => {
  const play = new EpicPlay();
  play.submit();
  return play;
};

const having =
  (answer: (play: EpicPlay) => unknown, from: From = submitted): From =>
  () => {
    const play = from();
    answer(play);
    return play;
  };

/** Bounds that are used up by the first failure. */
const strict: From = () => splitInTwo(mode({ integrate: 1, max_recompose_attempts: 1 }));

const queued: From = () => {
  const play = new EpicPlay();
  play.admission = { room: false, paused: [] };
  play.submit();
  return play;
};

const withAgent: From = () => {
  const play = new EpicPlay();
  play.known = { agentModels: ['smith'] };
  play.submit(taskSpec([nodeSpec({ model: 'smith' })]));
  for (const tree of ['a', 'b', 'c', 'met meanwhile?']) play.unmet(tree);
  return play;
};

const asking = having((play) => play.stall(ROOT));
const recomposing = having((play) => {
  play.done(API);
  play.done(WEB);
}, splitInTwo);
const recomposeFails = (play: EpicPlay): void => {
  play.done(API);
  play.done(WEB);
  play.stall(ROOT);
};
const mergeFails = (play: EpicPlay): void => {
  play.good(API);
  play.on(API).end({ outcome: 'unmet', merge_conflicts: ['a'] });
};

/** One lineage in each state that decisions tell apart. */
export const states = {
  queued,
  running: submitted,
  'running a fix': having((play) => play.judge([verdict('lint')], { workspace_ref: ref('lint') })),
  'running after a fix that ended': having((play) => {
    play.judge([verdict('lint')], { workspace_ref: ref('lint') });
    play.judge();
  }),
  'waiting to try a fault again': having((play) => play.refuse('token_invalid')),
  'waiting to check again': having((play) => play.end({ outcome: 'indeterminate' })),
  'checking whether it is met meanwhile': having((play) => {
    for (const tree of ['a', 'b', 'c']) play.unmet(tree);
  }),
  'with an agent': withAgent,
  'asking the council': asking,
  'waiting to ask the council again': having(
    (play) => play.send({ type: 'give_up_request', task: ROOT, request: 1, ...SILENCE }),
    asking,
  ),
  'at the floor': having((play) => play.noSplit(), asking),
  'waiting for a choice': having((play) =>
    play.judge([verdict('size', { severity: 'warning' })], { outcome: 'escalate' }),
  ),
  'waiting for authority': having((play) => play.gate('blocked_overridable')),
  'waiting for the infrastructure': having(
    (play) => play.end({ outcome: 'faulted', fault_class: 'provider_auth' }),
    () => {
      const play = new EpicPlay(mode({ fault_caps: { provider_auth: 0 } }));
      play.submit();
      return play;
    },
  ),
  'waiting for more time': having(
    (play) => play.deadline(),
    having((play) => play.refuse('token_invalid')),
  ),
  'superseded by children that run': splitInTwo,
  'superseded by a child that is merged': having((play) => play.good(API), splitInTwo),
  'superseded by children of which one is blocked': having((play) => {
    play.on(API).gate('halt');
    play.on(WEB);
  }, splitInTwo),
  'superseded by a child that can not be merged': having(mergeFails, strict),
  recomposing,
  'waiting to recompose': having(recomposeFails, splitInTwo),
  'waiting for a human to recompose': having(recomposeFails, strict),
  completed: having((play) => play.judge()),
  blocked: having((play) => play.gate('halt')),
  cancelled: having((play) => play.send({ type: 'cancel_task', task: ROOT, reason: 'enough' })),
} as const satisfies Record<string, From>;

export type StateName = keyof typeof states;
export const slices = [slice('a'), slice('b')];
