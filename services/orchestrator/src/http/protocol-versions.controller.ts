import {
  type ProtocolDetail,
  type ProtocolDiff,
  type ProtocolList,
  protocolDiffQuerySchema,
  type WithdrawnProtocol,
  type WithdrawProtocol,
  withdrawProtocolSchema,
} from '@fixpoint/contracts/rest/protocols';
import { Refused } from '@fixpoint/decider/refused';
import { diffProtocols } from '@fixpoint/documents/diff-protocols';
import { type ProtocolVersion, protocolVersions } from '@fixpoint/documents/protocol-catalog';
import type { Principal } from '@fixpoint/runtime/api-keys';
import { Asker, requireRole } from '@fixpoint/runtime/authentication';
import { badInput, notFound } from '@fixpoint/runtime/http-problem';
import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import type { PublishDeps } from '../writing/publish-protocol.ts';
import { versionRow, withdrawProtocol } from '../writing/withdraw-protocol.ts';
import { PUBLISHING } from './protocols.controller.ts';

/** As the path names it. */
class Version {
  readonly project!: string;
  readonly version!: string;
}

/** What a project has published, and taking it back. */
@Controller('v1/protocols/:project')
export class ProtocolVersionsController {
  private readonly publishing: PublishDeps;

  constructor(@Inject(PUBLISHING) publishing: PublishDeps) {
    this.publishing = publishing;
  }

  @Get()
  async list(@Param('project') project: string): Promise<ProtocolList> {
    return { versions: (await this.versions(project)).map(versionRow) };
  }

  @Get('diff')
  async diff(@Param('project') project: string, @Query() query: Record<string, string>): Promise<ProtocolDiff> {
    const asked = protocolDiffQuerySchema.safeParse(query);
    if (!asked.success) throw badInput('query_invalid', 'from and to are numbers of versions');
    const { from, to } = asked.data;
    const versions = await this.versions(project);
    const [before, after] = [versionIn(versions, from), versionIn(versions, to)];
    return { project, from, to, changes: diffProtocols(before.published.spec, after.published.spec) };
  }

  @Get(':version')
  async show(@Param('project') project: string, @Param('version') version: string): Promise<ProtocolDetail> {
    const found = versionIn(await this.versions(project), Number(version));
    return { ...versionRow(found), spec: found.published.spec };
  }

  /** Stops new work of every lineage under this version, hence the role. */
  @Post(':version/withdraw')
  @HttpCode(200)
  async withdraw(
    @Param() { project, version }: Version,
    @Body({ schema: withdrawProtocolSchema }) { reason }: WithdrawProtocol,
    @Asker() asker: Principal,
  ): Promise<WithdrawnProtocol> {
    requireRole(asker, 'admin');
    const withdrawal = { project, version: Number(version), reason, actor: asker.name };
    return await withdrawProtocol(this.publishing, withdrawal).catch(unknownIsNotFound);
  }

  private versions(project: string): Promise<ProtocolVersion[]> {
    return protocolVersions((stream) => this.publishing.store.readStream(stream), project);
  }
}

const versionIn = (versions: readonly ProtocolVersion[], version: number): ProtocolVersion => {
  const found = versions.find(({ published }) => published.protocol_version === version);
  if (!found) throw unknown();
  return found;
};

const unknown = () => notFound('protocol_version_unknown', 'the project has published no such version');

const unknownIsNotFound = (error: unknown): never => {
  if (error instanceof Refused && error.code === 'protocol_version_unknown') throw unknown();
  throw error;
};
