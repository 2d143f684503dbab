import type { PublishedProtocol, PublishProtocol } from '@fixpoint/contracts/rest/protocols';
import { publishProtocolSchema } from '@fixpoint/contracts/rest/protocols';
import { AppendRejected } from '@fixpoint/event-store/run-decision';
import type { Principal } from '@fixpoint/runtime/api-keys';
import { Asker, requireRole } from '@fixpoint/runtime/authentication';
import { badInput } from '@fixpoint/runtime/http-problem';
import { Body, Controller, Inject, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type PublishDeps, publishProtocol } from '../writing/publish-protocol.ts';

/** {@link PublishDeps} */
export const PUBLISHING = Symbol('PUBLISHING');

@Controller('v1/protocols')
export class ProtocolsController {
  private readonly publishing: PublishDeps;

  constructor(@Inject(PUBLISHING) publishing: PublishDeps) {
    this.publishing = publishing;
  }

  /** Protocols say what may run unasked, hence the role. */
  @Post()
  async publish(
    @Body({ schema: publishProtocolSchema }) body: PublishProtocol,
    @Asker() asker: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PublishedProtocol> {
    requireRole(asker, 'admin');
    const publishing = await publishProtocol(this.publishing, body.document, asker.name).catch(tooLarge);
    if (!publishing.published) {
      const { diagnostics } = publishing;
      throw badInput('document_invalid', diagnostics[0]?.message ?? 'not a protocol', diagnostics);
    }
    reply.code(publishing.protocol.created ? 201 : 200);
    return publishing.protocol;
  }
}

const tooLarge = (error: unknown): never => {
  if (error instanceof AppendRejected && error.code === 'event_too_large') {
    throw badInput('document_too_large', 'a protocol is at most 64 KiB with its defaults');
  }
  throw error;
};
