import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { memoryLeases } from '@fixpoint/messaging/memory-leases';
import { systemClock } from '@fixpoint/runtime/system-clock';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { executorWorld } from './run-reader.fixture.ts';

const done = { verdict: 'done' };

describe('a token', () => {
  let world: ReturnType<typeof executorWorld>;
  beforeEach(() => {
    world = executorWorld();
  });
  afterEach(() => world.close());

  const touching = () => world.gated({ recipe: { command: `echo x >> ${join(world.folder, 'effects')}` } });
  const effects = (): string => {
    const file = join(world.folder, 'effects');
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  };

  test('S-T92 that was used is known as used to an executor that starts later', async () => {
    const offer = await touching();
    await world.offer(offer);
    const later = { ...world.deps('executor-b'), leases: memoryLeases(systemClock) };
    expect(await world.offer(offer, later)).toEqual(done);
    expect((await world.actionEvents()).filter(({ type }) => type === 'action_started')).toHaveLength(1);
    expect(effects()).toBe('x\n');
  });

  test.each(['readStream', 'append'] as const)(
    'S-T95 starts nothing while the store fails at %s, and is as good as before when it is back',
    async (method) => {
      const offer = await touching();
      const deps = world.deps('executor-a');
      const away = { [method]: () => Promise.reject(Object.assign(new Error('away'), { code: '57P01' })) };
      const store = Object.assign(Object.create(deps.store), away);
      await expect(world.offer(offer, { ...deps, store })).rejects.toThrow('away');
      expect(effects()).toBe('');
      expect(await world.offer(offer)).toEqual(done);
      expect(effects()).toBe('x\n');
    },
  );
});
