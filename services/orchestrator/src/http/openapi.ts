import { cancelledTaskSchema, cancelTaskSchema } from '@fixpoint/contracts/rest/cancel';
import {
  discardDeadLetterSchema,
  handledDeadLetterSchema,
  replayDeadLetterSchema,
} from '@fixpoint/contracts/rest/dead-letters';
import { errorBodySchema } from '@fixpoint/contracts/rest/errors';
import { escalateSchema, ingestedEventSchema } from '@fixpoint/contracts/rest/escalations';
import {
  claimedHandoffSchema,
  claimHandoffSchema,
  decidedHandoffSchema,
  decideHandoffQuerySchema,
  decideHandoffSchema,
} from '@fixpoint/contracts/rest/handoffs';
import { type Operation, openApi } from '@fixpoint/contracts/rest/openapi-document';
import {
  protocolDetailSchema,
  protocolDiffQuerySchema,
  protocolDiffSchema,
  protocolListSchema,
  publishedProtocolSchema,
  publishProtocolSchema,
  withdrawnProtocolSchema,
  withdrawProtocolSchema,
} from '@fixpoint/contracts/rest/protocols';
import { resumedProviderSchema, resumeProviderSchema } from '@fixpoint/contracts/rest/providers';
import { batchSubmittedSchema, submitBodySchema, submittedSchema } from '@fixpoint/contracts/rest/tasks';
import { z } from 'zod';

const JSON_TYPE = 'application/json';
const json = (schema: string, ...statuses: readonly number[]) =>
  statuses.map((status) => ({ status, type: JSON_TYPE, schema }));
const body = (schema: string) => ({ [JSON_TYPE]: schema });

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  about: 'Names one task however often it is sent; the same as `idempotency_key` in the body',
};

/** In binary mode; then the body is the data. */
const EVENT_HEADERS = ['specversion', 'id', 'source', 'type'].map((name) => ({
  name: `ce-${name}`,
  about: `\`${name}\` of an event in binary mode: the body is its data`,
}));

/** Every route of the controllers; the spec of this file compares. */
export const OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'post', path: '/v1/tasks', summary: 'Submit a task, or several' },
    ...{ headers: [IDEMPOTENCY_KEY], body: body('SubmitBody') },
    answers: [...json('SubmitAnswer', 200), ...json('Submitted', 202)],
  },
  {
    ...{ method: 'post', path: '/v1/tasks/{lineage}/cancel', summary: 'Cancel a lineage, or one child of it' },
    ...{ body: body('CancelTask'), answers: json('CancelledTask', 200) },
  },
  {
    ...{ method: 'post', path: '/v1/escalations', summary: 'Hand in work that a producer could not finish' },
    ...{ body: body('Escalate'), answers: json('Submitted', 200, 202) },
  },
  {
    ...{ method: 'post', path: '/v1/events', summary: 'The same as a CloudEvent' },
    headers: EVENT_HEADERS,
    body: { [JSON_TYPE]: 'EventBody', 'application/cloudevents+json': 'IngestedEvent' },
    answers: json('Submitted', 200, 202),
  },
  {
    ...{ method: 'post', path: '/v1/handoffs/{handoff}/decisions', summary: 'Decide a handoff (admin)' },
    ...{ query: decideHandoffQuerySchema, body: body('DecideHandoff'), answers: json('DecidedHandoff', 200) },
  },
  {
    ...{ method: 'post', path: '/v1/handoffs/{handoff}/claim', summary: 'Look after a handoff for a while (admin)' },
    ...{ body: body('ClaimHandoff'), answers: json('ClaimedHandoff', 200) },
  },
  {
    ...{ method: 'post', path: '/v1/protocols', summary: 'Publish a version of a protocol (admin)' },
    ...{ body: body('PublishProtocol'), answers: json('PublishedProtocol', 200, 201) },
  },
  {
    ...{ method: 'get', path: '/v1/protocols/{project}', summary: 'Versions of a project, the first one first' },
    answers: json('ProtocolList', 200),
  },
  {
    ...{ method: 'get', path: '/v1/protocols/{project}/diff', summary: 'What two versions say differently' },
    ...{ query: protocolDiffQuerySchema, answers: json('ProtocolDiff', 200) },
  },
  {
    ...{ method: 'get', path: '/v1/protocols/{project}/{version}', summary: 'One version with all that it says' },
    answers: json('ProtocolDetail', 200),
  },
  {
    ...{ method: 'post', path: '/v1/protocols/{project}/{version}/withdraw' },
    summary: 'Stop new work under a version (admin)',
    ...{ body: body('WithdrawProtocol'), answers: json('WithdrawnProtocol', 200) },
  },
  {
    ...{ method: 'post', path: '/v1/providers/{provider}/resume', summary: 'Have a paused provider tried (admin)' },
    ...{ body: body('ResumeProvider'), answers: json('ResumedProvider', 200) },
  },
  {
    ...{ method: 'post', path: '/v1/dead-letters/{letter}/replay' },
    summary: 'Give an event back to its reader (admin)',
    ...{ body: body('ReplayDeadLetter'), answers: json('HandledDeadLetter', 200) },
  },
  {
    ...{ method: 'post', path: '/v1/dead-letters/{letter}/discard', summary: 'Give an event up for good (admin)' },
    ...{ body: body('DiscardDeadLetter'), answers: json('HandledDeadLetter', 200) },
  },
  {
    ...{ method: 'get', path: '/v1/schemas/{file}', summary: 'JSON Schema of a document, for editors', isPublic: true },
    answers: [{ status: 200, type: 'application/schema+json', schema: 'Document' }],
  },
  { method: 'get', path: '/v1/openapi.json', summary: 'This document', answers: json('Document', 200) },
];

/** The write API, as its requests are checked and its answers typed. */
export const openApiDocument = (): Record<string, unknown> =>
  openApi({
    title: 'Fixpoint write API',
    operations: OPERATIONS,
    asked: {
      SubmitBody: submitBodySchema,
      CancelTask: cancelTaskSchema,
      Escalate: escalateSchema,
      IngestedEvent: ingestedEventSchema,
      EventBody: z.union([ingestedEventSchema, escalateSchema]),
      DecideHandoff: decideHandoffSchema,
      ClaimHandoff: claimHandoffSchema,
      PublishProtocol: publishProtocolSchema,
      WithdrawProtocol: withdrawProtocolSchema,
      ResumeProvider: resumeProviderSchema,
      ReplayDeadLetter: replayDeadLetterSchema,
      DiscardDeadLetter: discardDeadLetterSchema,
    },
    answered: {
      Submitted: submittedSchema,
      SubmitAnswer: z.union([submittedSchema, batchSubmittedSchema]),
      CancelledTask: cancelledTaskSchema,
      DecidedHandoff: decidedHandoffSchema,
      ClaimedHandoff: claimedHandoffSchema,
      PublishedProtocol: publishedProtocolSchema,
      ProtocolList: protocolListSchema,
      ProtocolDiff: protocolDiffSchema,
      ProtocolDetail: protocolDetailSchema,
      WithdrawnProtocol: withdrawnProtocolSchema,
      ResumedProvider: resumedProviderSchema,
      HandledDeadLetter: handledDeadLetterSchema,
      Document: z.record(z.string(), z.unknown()),
      Error: errorBodySchema,
    },
  });
