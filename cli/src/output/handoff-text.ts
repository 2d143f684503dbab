import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import { parseEvent, UnreadableEvent } from '@fixpoint/contracts/events/parse-event';
import type { Handoff, HandoffDetail } from '@fixpoint/contracts/rest/audit-handoffs';
import { oneLine } from './printable.ts';
import { firstLines, objectionLines } from './reasons.ts';
import { table } from './table.ts';

const SHORT = 60;

/** Handoffs as people look through them. */
export const handoffTable = (handoffs: readonly Handoff[]): string =>
  table(
    ['handoff', 'status', 'needs', 'project', 'opened', 'ends', 'claimed by', 'why'],
    handoffs.map((each) => [
      ...[each.handoff, each.status, each.help, each.project, each.opened_at, each.expires_at ?? '-'],
      ...[each.claimed ? (each.claimed_by ?? '-') : '-', oneLine(`${each.raw_halt_type}: ${each.detail}`, SHORT)],
    ]),
  );

/** One handoff with all that somebody needs to decide it. */
export const handoffText = (handoff: HandoffDetail): string =>
  [
    `${handoff.handoff}  ${handoff.status}  version ${handoff.version}`,
    ...(isOfProvider(handoff) ? [`provider ${handoff.task}: what needs it waits`] : unitLines(handoff)),
    ...handoff.causes.flatMap(causeLines),
    ...(isOfProvider(handoff) ? [] : [...triedLines(handoff), `cost so far: ${costOf(handoff)}`]),
    ...lifeLines(handoff),
    ...handoff.history.map((step) => `${step.occurred_at}  ${step.type}  by ${step.metadata.actor}`),
    ...endLines(handoff),
  ].join('\n');

/** It is about no unit: it has the stream of its provider for its lineage. */
const isOfProvider = ({ handoff, lineage }: Handoff): boolean => handoff === lineage;

const unitLines = (handoff: Handoff): string[] => [
  `unit ${handoff.address} (${handoff.task}) of project ${handoff.project}`,
  `at: ${placeOf(handoff)}: ${oneLine(handoff.goal, SHORT)}`,
];

const placeOf = ({ slice_task, node, run }: Handoff): string =>
  [`task ${slice_task}`, ...(node === null ? [] : [`node ${node}`]), ...(run === null ? [] : [`run ${run}`])].join(
    ', ',
  );

const causeLines = ({ help, stage, raw_halt_type, detail }: Handoff['causes'][number]): string[] => [
  `needs: ${help} (${stage}, ${raw_halt_type})`,
  ...firstLines(detail),
];

/** What was tried and who objects, as the request says; nothing where this release can not read it. */
const triedLines = ({ history: [request], runs, fix_attempts }: HandoffDetail): string[] => {
  const asked = request === undefined ? null : requestIn(request);
  const rungs = asked === null || asked.tried.rungs.length === 0 ? '' : `, rungs ${asked.tried.rungs.join(', ')}`;
  const council = asked?.tried.council ? [`council: ${oneLine(asked.tried.council, SHORT)}`] : [];
  const agent = asked?.tried.auto_agent ? [`agent: ${oneLine(asked.tried.auto_agent, SHORT)}`] : [];
  const fixes = (asked?.tried.fixes ?? []).map(
    ({ attempt, validator, justification }) => `fix ${attempt} for ${validator}: ${oneLine(justification, SHORT)}`,
  );
  const said = objectionLines(asked?.verdicts ?? []);
  return [`tried: ${runs} runs, ${fix_attempts} fixes${rungs}`, ...fixes, ...agent, ...council, ...said];
};

const requestIn = (event: HandoffDetail['history'][number]): EventNamed<'human_required'>['data'] | null => {
  try {
    const known = parseEvent(event);
    return known.type === 'human_required' ? known.data : null;
  } catch (error) {
    if (error instanceof UnreadableEvent) return null;
    throw error;
  }
};

const costOf = ({ money_micros, tokens, duration_ms, lineage_runs: runs }: Handoff): string => {
  if (money_micros === null || duration_ms === null) return 'not known';
  const models = `${(money_micros / 1_000_000).toFixed(2)} in money, ${tokens ?? 0} tokens`;
  return `${models}, ${Math.round(duration_ms / 1000)} s${runs === null ? '' : `, ${runs} runs`}`;
};

const lifeLines = ({
  status,
  claimed,
  claimed_by,
  claimed_until,
  expired_at,
  expires_at,
  on_expiry,
}: Handoff): string[] => {
  if (status !== 'open') return [];
  if (expires_at === null) return ['it stays until somebody decides'];
  const life = expired_at === null ? `ends ${expires_at}: ${on_expiry}` : `its time was over ${expired_at}; it is kept`;
  return [life, ...(claimed ? [`${claimed_by} looks after it until ${claimed_until}`] : [])];
};

const endLines = (row: Handoff): string[] => {
  const { handoff, status, task, decisions, decision, closed_by } = row;
  if (status === 'open' && isOfProvider(row)) return [`now: fixpoint providers resume ${task}`];
  return status === 'open'
    ? [`now: fixpoint decide ${handoff} ${decisions.join(' | ')}`]
    : [`${status}${decision === null ? '' : `: ${decision}`} by ${closed_by}`];
};
