import { cursorToken } from '@fixpoint/contracts/rest/cursor-token';
import { type ResumedProvider, type ResumeProvider, resumeProviderSchema } from '@fixpoint/contracts/rest/providers';
import { Refused } from '@fixpoint/decider/refused';
import type { Principal } from '@fixpoint/runtime/api-keys';
import { Asker, requireRole } from '@fixpoint/runtime/authentication';
import { notFound } from '@fixpoint/runtime/http-problem';
import { Body, Controller, HttpCode, Inject, Param, Post } from '@nestjs/common';
import type { Providers } from '../providers/providers.ts';

/** {@link Providers} */
export const PROVIDER_DESK = Symbol('PROVIDER_DESK');

/** A provider belongs to the installation and not to who submitted what waits for it, hence the role. */
@Controller('v1/providers/:provider')
export class ProvidersController {
  private readonly providers: Providers;

  constructor(@Inject(PROVIDER_DESK) providers: Providers) {
    this.providers = providers;
  }

  @Post('resume')
  @HttpCode(200)
  async resume(
    @Param('provider') provider: string,
    @Body({ schema: resumeProviderSchema }) { reason }: ResumeProvider,
    @Asker() asker: Principal,
  ): Promise<ResumedProvider> {
    requireRole(asker, 'admin');
    const asked = await this.providers.retry(provider, { reason, actor: asker.name }).catch(unknownIsNotFound);
    return { provider, changed: asked !== null, cursor: asked && cursorToken(asked.cursor) };
  }
}

const unknownIsNotFound = (error: unknown): never => {
  if (error instanceof Refused && error.code === 'provider_unknown') {
    throw notFound('provider_unknown', 'no run has met a fault of such a provider');
  }
  throw error;
};
