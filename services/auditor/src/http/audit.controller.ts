import { Readable } from 'node:stream';
import { CURSOR_START } from '@fixpoint/contracts/envelope';
import {
  type DeadLetterDetailQuery,
  type DeadLettersQuery,
  deadLetterDetailQuerySchema,
  deadLettersQuerySchema,
  type EpicsQuery,
  type EventStreamQuery,
  type EventsQuery,
  epicsQuerySchema,
  eventStreamQuerySchema,
  eventsQuerySchema,
  type HandoffDetailQuery,
  type HandoffsQuery,
  handoffDetailQuerySchema,
  handoffsQuerySchema,
  type LineageDetailQuery,
  type LineagesQuery,
  lineageDetailQuerySchema,
  lineagesQuerySchema,
  type ProvidersQuery,
  providersQuerySchema,
  type RunsQuery,
  runsQuerySchema,
  type TasksQuery,
  tasksQuerySchema,
} from '@fixpoint/contracts/rest/audit-queries';
import { cursorToken, parseCursorToken } from '@fixpoint/contracts/rest/cursor-token';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import { badInput, HttpProblem, notFound } from '@fixpoint/runtime/http-problem';
import { Controller, Get, Inject, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { deadLetterDetail, deadLetterPage } from '../reading/dead-letters.ts';
import { epicPage } from '../reading/epics.ts';
import { eventStream } from '../reading/event-stream.ts';
import { eventPage } from '../reading/events.ts';
import type { Freshness } from '../reading/freshness.ts';
import { handoffDetail, handoffPage } from '../reading/handoffs.ts';
import { lineageDetail, lineagePage } from '../reading/lineages.ts';
import { providerPage } from '../reading/providers.ts';
import { runPage } from '../reading/runs.ts';
import { taskPage } from '../reading/tasks.ts';
import { awaitShown, refusingCursors, sendJson } from './answer.ts';
import { openApiDocument } from './openapi.ts';

/** {@link Reading} */
export const READING = Symbol('READING');

/** What the read API is made from. */
export interface Reading extends Freshness {
  readonly artifacts: Pick<Artifacts, 'get'>;
  /** Aborts when the process stops: streams to readers end. */
  readonly closing: AbortSignal;
}

/** Readers that may follow events at the same time, per process. */
const MAX_STREAMS = 200;

@Controller('v1/audit')
export class AuditController {
  private readonly reading: Reading;
  private readonly document = JSON.stringify(openApiDocument());
  private streams = 0;

  constructor(@Inject(READING) reading: Reading) {
    this.reading = reading;
  }

  @Get('lineages')
  async lineages(
    @Query({ schema: lineagesQuerySchema }) query: LineagesQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.page(reply, query.after, async () => JSON.stringify(await lineagePage(this.reading.db, query)));
  }

  @Get('lineages/:id')
  async lineage(
    @Param('id') id: string,
    @Query({ schema: lineageDetailQuerySchema }) query: LineageDetailQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.page(reply, query.after, async () => {
      const detail = await lineageDetail(this.reading.db, id);
      if (!detail) throw notFound('lineage_unknown', 'there is no such lineage, or it is not shown yet');
      return JSON.stringify(detail);
    });
  }

  @Get('tasks')
  async tasks(@Query({ schema: tasksQuerySchema }) query: TasksQuery, @Res() reply: FastifyReply): Promise<void> {
    await this.page(reply, query.after, async () => JSON.stringify(await taskPage(this.reading.db, query)));
  }

  @Get('epics')
  async epics(@Query({ schema: epicsQuerySchema }) query: EpicsQuery, @Res() reply: FastifyReply): Promise<void> {
    await this.page(reply, query.after, async () => JSON.stringify(await epicPage(this.reading.db, query)));
  }

  @Get('runs')
  async runs(@Query({ schema: runsQuerySchema }) query: RunsQuery, @Res() reply: FastifyReply): Promise<void> {
    await this.page(reply, query.after, async () => JSON.stringify(await runPage(this.reading.db, query)));
  }

  @Get('handoffs')
  async handoffs(
    @Query({ schema: handoffsQuerySchema }) query: HandoffsQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.page(reply, query.after, async () => JSON.stringify(await handoffPage(this.reading.db, query)));
  }

  @Get('handoffs/:handoff')
  async handoff(
    @Param('handoff') handoff: string,
    @Query({ schema: handoffDetailQuerySchema }) query: HandoffDetailQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.page(reply, query.after, async () => {
      const detail = await handoffDetail(this.reading.db, handoff);
      if (detail === null) throw notFound('handoff_unknown', 'there is no such handoff, or it is not shown yet');
      return detail;
    });
  }

  @Get('providers')
  async providers(
    @Query({ schema: providersQuerySchema }) query: ProvidersQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.page(reply, query.after, async () => JSON.stringify(await providerPage(this.reading.db, query)));
  }

  @Get('dead-letters')
  async deadLetters(
    @Query({ schema: deadLettersQuerySchema }) query: DeadLettersQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.page(reply, query.after, async () => JSON.stringify(await deadLetterPage(this.reading.db, query)));
  }

  @Get('dead-letters/:letter')
  async deadLetter(
    @Param('letter') letter: string,
    @Query({ schema: deadLetterDetailQuerySchema }) query: DeadLetterDetailQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.page(reply, query.after, async () => {
      const detail = await deadLetterDetail(this.reading.db, letter);
      if (detail === null)
        throw notFound('dead_letter_unknown', 'there is no such dead letter, or it is not shown yet');
      return detail;
    });
  }

  @Get('events')
  async events(@Query({ schema: eventsQuerySchema }) query: EventsQuery, @Res() reply: FastifyReply): Promise<void> {
    await this.page(reply, query.after, () => eventPage(this.reading.db, query));
  }

  @Get('events/stream')
  async follow(
    @Query({ schema: eventStreamQuerySchema }) query: EventStreamQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const last = reply.request.headers['last-event-id'];
    const since = typeof last === 'string' ? last : (query.since ?? cursorToken(CURSOR_START));
    if (!parseCursorToken(since)) throw badInput('cursor_invalid', 'Last-Event-ID is not the id of an event');
    if (this.streams >= MAX_STREAMS) {
      const detail = `${MAX_STREAMS} readers follow events here already`;
      throw new HttpProblem(429, { code: 'too_many_streams', detail, diagnostics: [] }, { 'retry-after': '5' });
    }
    await reply
      .header('content-type', 'text/event-stream; charset=utf-8')
      .header('cache-control', 'no-store')
      .header('x-accel-buffering', 'no')
      .send(this.stream({ lineage: query.lineage, since }));
  }

  @Get('artifacts/:hash')
  async artifact(@Param('hash') hash: string, @Res() reply: FastifyReply): Promise<void> {
    const bytes = /^[0-9a-f]{64}$/.test(hash) ? await this.reading.artifacts.get(hash) : null;
    if (!bytes) throw notFound('artifact_unknown', 'there is no such artifact');
    await reply
      .header('content-type', 'application/octet-stream')
      .header('content-disposition', `attachment; filename="${hash}"`)
      .header('x-content-type-options', 'nosniff')
      .header('etag', `"${hash}"`)
      .header('cache-control', 'private, max-age=31536000, immutable')
      .send(Readable.from(bytes));
  }

  @Get('openapi.json')
  async openApi(@Res() reply: FastifyReply): Promise<void> {
    await sendJson(reply, this.document);
  }

  private async page(reply: FastifyReply, after: string | undefined, read: () => Promise<string>): Promise<void> {
    await awaitShown(this.reading, after);
    await sendJson(reply, await refusingCursors(read));
  }

  private stream(start: { readonly lineage: string; readonly since: string }): Readable {
    const ended = new AbortController();
    const signal = AbortSignal.any([ended.signal, this.reading.closing]);
    this.streams += 1;
    const stream = Readable.from(eventStream(this.reading, start, signal), { objectMode: false });
    stream.once('close', () => {
      this.streams -= 1;
      ended.abort();
    });
    return stream;
  }
}
