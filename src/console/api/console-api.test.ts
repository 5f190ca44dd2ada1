import { onlineManager, QueryObserver } from '@tanstack/react-query';
import { expect, onTestFinished, test, vi } from 'vitest';
import { CONSOLE_API } from '../../contract/console/paths.ts';
import {
  ConsoleError,
  call,
  createConsoleClient,
  describeUnchanged,
  isOutcomeUnknown,
  sendEach,
} from './console-api.ts';

test('while the browser is offline, reads and changes fail instead of waiting silently, and reads recover later', async () => {
  onlineManager.setOnline(false);
  onTestFinished(() => onlineManager.setOnline(true));
  const client = createConsoleClient();
  const fail = () => Promise.reject(new Error('Offline'));
  client.mount();
  onTestFinished(() => client.unmount());
  const queryFn = vi.fn<() => Promise<string>>(fail);
  const read = new QueryObserver(client, { queryKey: ['comments'], queryFn });
  onTestFinished(read.subscribe(() => {}));
  await expect.poll(() => read.getCurrentResult()).toMatchObject({ status: 'error', fetchStatus: 'idle' });
  const change = client.getMutationCache().build(client, { mutationFn: fail });
  change.execute(undefined).catch(() => {});
  await expect.poll(() => change.state).toMatchObject({ status: 'error', isPaused: false });
  queryFn.mockResolvedValue('loaded');
  onlineManager.setOnline(true);
  await expect.poll(() => read.getCurrentResult().data).toBe('loaded');
});

/** Replaces the network with `respond`, and makes all timeouts expire when `expire` is called. */
function replaceNetwork(respond: () => Response | undefined) {
  const expired = new AbortController();
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(expired.signal);
  const fetch = vi.fn((_path: string, { signal }: RequestInit) => {
    return new Promise<Response>((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
      const response = respond();
      if (response) resolve(response);
    });
  });
  vi.stubGlobal('fetch', fetch);
  vi.stubGlobal('navigator', {});
  onTestFinished(() => {
    timeout.mockRestore();
    vi.unstubAllGlobals();
  });
  return { timeout, fetch, expire: () => expired.abort(new DOMException('Expired', 'TimeoutError')) };
}

test('a request without a response fails after 40 s, or 10 minutes if it may take long, and is not retried', async () => {
  const { timeout, expire } = replaceNetwork(() => undefined);
  const { signal } = new AbortController();
  const requests = [
    call(CONSOLE_API.moderateComments, { method: 'POST', body: {} }),
    call(CONSOLE_API.waiting, { signal }),
    call(CONSOLE_API.pictures('image'), { method: 'POST', body: new Blob(['picture']) }),
    ...[CONSOLE_API.doctor, CONSOLE_API.removeProducts, CONSOLE_API.restoreProducts].map((path) => call(path)),
    ...[CONSOLE_API.votes('tide-tables'), CONSOLE_API.undo('entry')].map((path) => call(path)),
  ];
  const outcomes = Promise.allSettled(requests);
  expire();
  const { retry } = createConsoleClient().getDefaultOptions().queries ?? {};
  const isRetried = (error: Error) => typeof retry === 'function' && retry(0, error);
  expect(isRetried(new ConsoleError(0, 'network', 'Out of reach'))).toBe(true);
  for (const { reason } of (await outcomes) as PromiseRejectedResult[]) {
    expect(reason).toMatchObject({ status: 0, message: 'The site took too long to respond.' });
    expect(isOutcomeUnknown(reason)).toBe(true);
    expect(isRetried(reason)).toBe(false);
  }
  const limits = timeout.mock.calls.map(([ms]) => ms / 1_000);
  expect(limits).toEqual([40, 40, 600, 600, 600, 600, 600, 600]);
});

test('a response that breaks off counts as no response', async () => {
  const body = new ReadableStream({ start: (controller) => controller.error(new TypeError('network error')) });
  replaceNetwork(() => new Response(body));
  await expect(call(CONSOLE_API.waiting)).rejects.toMatchObject({ status: 0, message: 'The site cannot be reached.' });
});

test('when the browser goes offline, a batch sends no further request, because that would fail as well', async () => {
  vi.stubGlobal('window', new EventTarget());
  const responses = [Response.json('done')];
  replaceNetwork(() => {
    const response = responses.shift();
    if (!response) throw new TypeError('Failed to fetch');
    return response;
  });
  const sent = await sendEach(['a', 'b', 'c'], (id) =>
    call<string>(CONSOLE_API.decideSubmission(id), { method: 'POST', body: {} }),
  );
  expect(describeUnchanged(sent, (ids) => ids.join(' and '))).toBe(
    'No response for b. If the change was made, it is in the audit log. Cancelled for c.',
  );
});

test('after a timeout, a batch sends no further request, and says which items may have been changed', async () => {
  vi.stubGlobal('window', new EventTarget());
  const responses = [Response.json('done'), Response.json({ detail: 'It has changed.' }, { status: 409 })];
  const { fetch, expire } = replaceNetwork(() => {
    const response = responses.shift();
    if (!response) queueMicrotask(expire);
    return response;
  });
  const sent = await sendEach(['a', 'b', 'c', 'd', 'e'], (id) =>
    call<string>(CONSOLE_API.decideSubmission(id), { method: 'POST', body: {} }),
  );
  expect(sent.results).toEqual(['done']);
  expect(describeUnchanged(sent, (ids) => ids.join(' and '))).toBe(
    'Failed for b. It has changed. No response for c. If the change was made, it is in the audit log. Cancelled for d and e.',
  );
  expect(fetch).toHaveBeenCalledTimes(3);
});
