import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { ConfigError, describeSettings, parseConfig, setting } from './settings.ts';

const settings = {
  port: setting('X_PORT', { schema: z.coerce.number().int(), unit: 'TCP port', fallback: '4100', about: 'Port.' }),
  url: setting('X_URL', { schema: z.url(), unit: 'URL', fallback: null, about: 'Where the store is.' }),
  key: setting('X_KEY', {
    schema: z.string().max(3),
    unit: 'text',
    fallback: '',
    about: 'A secret.',
    secret: true,
  }),
};

const problems = (env: Record<string, string>): string => {
  try {
    parseConfig(settings, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
  }
  return '';
};

describe('configuration', () => {
  test('reads texts as what they mean', () => {
    expect(parseConfig(settings, { X_PORT: '5000', X_URL: 'http://a.b' })).toEqual({
      port: 5000,
      url: 'http://a.b',
      key: '',
    });
  });

  test('takes the default for what is unset or empty', () => {
    expect(parseConfig(settings, { X_PORT: '', X_URL: 'http://a.b' }).port).toBe(4100);
  });

  test('names every problem at once, with unit and default', () => {
    const said = problems({ X_PORT: 'many' });
    expect(said).toMatch(/X_PORT: "many": .*\(TCP port; default 4100\)/);
    expect(said).toMatch(/X_URL is not set\. Where the store is\. \(URL; mandatory\)/);
  });

  test('never repeats a secret', () => {
    expect(problems({ X_URL: 'http://a.b', X_KEY: 'hunter2' })).toMatch(/^(?!.*hunter2).*X_KEY: its value/s);
  });

  test('lists its keys for manuals', () => {
    expect(describeSettings(settings).split('\n')).toEqual([
      'X_PORT (TCP port; default 4100) Port.',
      'X_URL (URL; mandatory) Where the store is.',
      'X_KEY (text; default none) A secret.',
    ]);
  });
});
