import { expect, test } from 'vitest';
import { reactTo } from './session.ts';

const status = { pid: 1, since: '2026-01-01T00:00:00.000Z', note: '', stopping: false } as const;
const owner = { ...status, mode: 'own' } as const;
const sharer = { ...status, mode: 'share' } as const;

test.each([
  ['an owner', owner, 'own', 'refuse'],
  ['an owner', owner, 'share', 'share'],
  ['an owner that stops', { ...owner, stopping: true }, 'own', 'wait'],
  ['an owner that stops', { ...owner, stopping: true }, 'share', 'wait'],
  ['a sharer, which gives the folder up', sharer, 'own', 'wait'],
  ['a sharer', sharer, 'share', 'share'],
  ['a sharer that stops', { ...sharer, stopping: true }, 'own', 'wait'],
  ['a sharer that stops', { ...sharer, stopping: true }, 'share', 'wait'],
  ['a process that has just ended', 'gone', 'own', 'wait'],
  ['a process that has just ended', 'gone', 'share', 'wait'],
  ['a process that does not respond', 'silent', 'own', 'refuse'],
  ['a process that does not respond', 'silent', 'share', 'refuse'],
] as const)(
  'if the folder is in use by %s, %o, a process in mode `%s` reacts with `%s`',
  (_holder, found, mode, reaction) => {
    expect(reactTo(found, mode)).toBe(reaction);
  },
);
