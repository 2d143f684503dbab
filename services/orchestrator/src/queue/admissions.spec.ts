import type { Cursor } from '@fixpoint/contracts/envelope';
import { describe, expect, test } from '@jest/globals';
import { Admissions, runsOf } from './admissions.ts';

const at = (xid: number): Cursor => ({ epoch: 1, xid: String(xid), position: '1' });
const ALONE = { own: 0, inAll: 0, inProject: 0 };

const standing = (xid: number, running: number, queued = 0) => ({
  upTo: at(xid),
  projects: [{ project: 'shop', running, queued }],
  length: queued,
  oldest: null,
});

describe('room for another run', () => {
  test('is there below the window and not at it', () => {
    const admissions = new Admissions({ total: 2, project: 2 });
    admissions.update(standing(1, 1), []);
    expect(admissions.of('shop', ALONE).room).toBe(true);
    admissions.note({ cursor: at(2), project: 'shop', running: 1, queued: 0 });
    expect(admissions.of('shop', ALONE).room).toBe(false);
    expect(admissions.of('shop', { ...ALONE, own: 1 }).room).toBe(true);
  });

  test('is counted once: what the projection has seen is not added to it', () => {
    const admissions = new Admissions({ total: 10, project: 10 });
    admissions.note({ cursor: at(2), project: 'shop', running: 1, queued: 0 });
    admissions.note({ cursor: at(5), project: 'shop', running: 1, queued: 0 });
    admissions.update(standing(3, 4), []);
    expect(admissions.room().total).toBe(5);
    admissions.update(standing(5, 5), []);
    expect(admissions.room().total).toBe(5);
  });

  test('is not for a new run while others wait for it', () => {
    const admissions = new Admissions({ total: 4, project: 4 });
    admissions.update(standing(1, 1, 3), []);
    expect(admissions.of('shop', ALONE).room).toBe(false);
    expect(admissions.room().total).toBe(3);
  });

  test('is not given away twice within a batch', () => {
    const admissions = new Admissions({ total: 2, project: 9 });
    expect(admissions.of('shop', { own: 0, inAll: 2, inProject: 0 }).room).toBe(false);
    expect(new Admissions({ total: 9, project: 2 }).of('shop', { own: 0, inAll: 2, inProject: 2 }).room).toBe(false);
  });

  test('is told of a lineage without reading it', () => {
    expect(runsOf(undefined)).toBeNull();
    expect(runsOf({ status: 'unknown' })).toEqual({ project: '', running: 0, queued: 0 });
  });
});
