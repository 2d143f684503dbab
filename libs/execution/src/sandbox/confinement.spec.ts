import { describe, expect, test } from '@jest/globals';
import { confinementFor } from './confinement.ts';
import { DEFAULT_LIMITS } from './limits.ts';

const REQUIREMENTS = ['required', 'preferred', 'none'] as const;
const policy = (requirement: (typeof REQUIREMENTS)[number], works: boolean) => ({
  ...{ requirement, support: { works, detail: 'no bwrap' }, readable: ['/opt'] },
});
const OFFLINE = { network: false };

describe('a command', () => {
  test.each(REQUIREMENTS)(
    'under a mode that requires a sandbox never runs without one, whatever is configured: %s',
    (byDefault) => {
      const mode = { sandbox: { require: 'required' } } as const;
      expect(confinementFor(policy(byDefault, false), mode, OFFLINE)).toMatchObject({ refused: 'sandbox_unavailable' });
      expect(confinementFor(policy(byDefault, true), mode, OFFLINE)).toMatchObject({ sandboxed: true });
    },
  );

  test.each([
    ['required', true, true],
    ['required', false, null],
    ['preferred', true, true],
    ['preferred', false, false],
    ['none', true, false],
    ['none', false, false],
  ] as const)('under a mode that says nothing goes by the configuration: %s, %s', (byDefault, works, sandboxed) => {
    const confinement = confinementFor(policy(byDefault, works), {}, OFFLINE);
    expect('refused' in confinement ? null : confinement.sandboxed).toBe(sandboxed);
  });

  test('gets the network when its node asks, and is refused where the mode forbids it', () => {
    const asked = { network: true };
    expect(confinementFor(policy('required', true), {}, asked)).toMatchObject({ network: true });
    expect(confinementFor(policy('required', true), {}, OFFLINE)).toMatchObject({ network: false });
    expect(confinementFor(policy('none', true), { sandbox: { network: 'forbidden' } }, asked)).toMatchObject({
      refused: 'network_forbidden',
    });
  });

  test('has the limits of its mode, and the others by default', () => {
    const mode = { sandbox: { limits: { processes: 8 } } };
    expect(confinementFor(policy('required', true), mode, OFFLINE)).toMatchObject({
      ...{ readable: ['/opt'], limits: { ...DEFAULT_LIMITS, processes: 8 } },
    });
  });
});
