import { afterEach, describe, expect, test } from '@jest/globals';
import { type App, startApp as start } from './started-app.fixture.ts';

let app: App | null = null;
afterEach(async () => {
  app?.child.kill('SIGKILL');
  await app?.ended;
  app = null;
});

const startApp = (behaviour: string): App => {
  app = start(behaviour);
  return app;
};

describe('a process', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('drains on %s and exits 0', async (signal) => {
    const { child, until, said, ended } = startApp('slow');
    const { url } = await until('ready');
    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
    child.kill(signal);
    expect(await ended).toBe(0);
    expect(said.slice(-5)).toEqual(['signal received', 'stopping', 'work in hand is done', 'released', 'stopped']);
  });

  test('exits at once on a second signal', async () => {
    const { child, until, ended } = startApp('hanging');
    await until('ready');
    child.kill('SIGTERM');
    await until('hanging');
    child.kill('SIGTERM');
    expect(await ended).toBe(143);
  });

  test('is cut off when its stop hangs', async () => {
    const { child, until, said, ended } = startApp('hanging');
    await until('ready');
    child.kill('SIGTERM');
    expect(await ended).toBe(1);
    expect(said.at(-1)).toBe('stopping took too long');
  }, 15_000);

  test.each([
    ['throwing', 'uncaught exception'],
    ['rejecting', 'unhandled rejection'],
    ['broken', 'app could not start'],
  ])('that is %s says so and exits 1', async (behaviour, message) => {
    const { said, ended } = startApp(behaviour);
    expect(await ended).toBe(1);
    expect(said.at(-1)).toBe(message);
  });
});
