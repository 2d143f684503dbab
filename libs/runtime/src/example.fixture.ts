import type { EventStore } from '@fixpoint/event-store/event-store';
import { Body, Controller, type DynamicModule, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { z } from 'zod';
import type { Principal } from './api-keys.ts';
import { Asker, requireRole } from './authentication.ts';
import { notFound } from './http-problem.ts';
import { CLOCK, EVENT_STORE, LOG } from './infrastructure.ts';
import { loop } from './loop.ts';
import { reader } from './readers.ts';

const greetingBody = z.strictObject({ name: z.string().min(1) });
const pageQuery = z.object({ limit: z.coerce.number().int().max(100).default(10) });

@Controller('v1/greetings')
class GreetingController {
  private readonly store: EventStore;

  constructor(@Inject(EVENT_STORE) store: EventStore) {
    this.store = store;
  }

  @Post()
  @HttpCode(202)
  greet(@Body({ schema: greetingBody }) body: z.infer<typeof greetingBody>, @Asker() asker: Principal) {
    return { greeting: `${asker.name} greets ${body.name}` };
  }

  @Get()
  list(@Query({ schema: pageQuery }) { limit }: z.infer<typeof pageQuery>) {
    return { limit };
  }

  @Get(':stream')
  async read(@Param('stream') stream: string) {
    const events = await this.store.readStream(stream);
    if (events.length === 0) throw notFound('greeting_unknown', stream);
    return events;
  }

  @Post('forget')
  forget(@Asker() asker: Principal) {
    requireRole(asker, 'admin');
    return {};
  }
}

class GreetingModule {}

/** @param infrastructure made once per process; pass the same object to every service. */
export const greetingModule = (infrastructure: DynamicModule): DynamicModule => ({
  module: GreetingModule,
  imports: [infrastructure],
  controllers: [GreetingController],
  providers: [
    {
      provide: 'GREET_BACK',
      useFactory: () =>
        reader({
          name: 'greeter__greet_back',
          types: ['task_submitted'],
          mode: { kind: 'pool', concurrency: 4 },
          maxFailures: 5,
          handle: async (offers) => offers.map(() => ({ verdict: 'done' })),
          deadLetter: async () => undefined,
        }),
    },
    {
      provide: 'COUNT',
      inject: [CLOCK, LOG],
      useFactory: (clock, log) => loop('count', (signal) => clock.sleep(1_000, signal), { clock, log }),
    },
  ],
});
