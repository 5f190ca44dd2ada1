import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createBrowserStorage } from '../../../tests/support/browser-storage.ts';
import { SESSION_PATTERN } from '../../contract/api.ts';

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';

/** Imports a new instance of the module each time, because the module stores the fallback id in a variable. */
async function makeSessionId(): Promise<() => string> {
  vi.resetModules();
  return (await import('./session.ts')).sessionId;
}

beforeEach(() => vi.useFakeTimers({ now: 1_700_000_000_000 }));
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe('the visitor’s session id', () => {
  test('is random, stored under user_session, and stays the same', async () => {
    const localStorage = createBrowserStorage();
    vi.stubGlobal('window', { localStorage });
    const sessionId = await makeSessionId();
    const id = sessionId();
    expect(id).toMatch(new RegExp(`^session-${UUID}$`));
    expect(localStorage.stored.get('user_session')).toBe(id);
    expect((await makeSessionId())()).toBe(id);
  });

  test('is random without randomUUID, as on plain HTTP', async () => {
    vi.stubGlobal('window', { localStorage: createBrowserStorage() });
    const { crypto } = globalThis;
    vi.stubGlobal('crypto', { getRandomValues: (bytes: Uint8Array<ArrayBuffer>) => crypto.getRandomValues(bytes) });
    expect((await makeSessionId())()).toMatch(new RegExp(`^session-${UUID}$`));
  });

  test('contains the time if there is no source of randomness', async () => {
    vi.stubGlobal('window', { localStorage: createBrowserStorage() });
    vi.stubGlobal('crypto', undefined);
    expect((await makeSessionId())()).toBe('session-1700000000000');
  });

  test('is server-session-{time} on the server', async () => {
    expect((await makeSessionId())()).toBe('server-session-1700000000000');
  });

  test('is fallback-session-{time} for the lifetime of the page if storage fails', async () => {
    vi.stubGlobal('window', {
      get localStorage() {
        throw new DOMException('denied', 'SecurityError');
      },
    });
    const sessionId = await makeSessionId();
    const id = sessionId();
    vi.advanceTimersByTime(1_000);
    expect(id).toBe('fallback-session-1700000000000');
    expect(sessionId()).toBe(id);
    expect(id).toMatch(new RegExp(SESSION_PATTERN));
  });

  test('is replaced if the server would reject it', async () => {
    const localStorage = createBrowserStorage();
    localStorage.setItem('user_session', 'not one of ours');
    vi.stubGlobal('window', { localStorage });
    expect((await makeSessionId())()).toMatch(new RegExp(`^session-${UUID}$`));
  });
});
