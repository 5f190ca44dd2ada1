import { QueryClient } from '@tanstack/react-query';
import { expect, test, vi } from 'vitest';
import { exampleComment } from '../../../../tests/support/product-data.ts';
import type { Api } from '../../../contract/api.ts';
import { dismissToast, showLoadFailure, showToast } from '../../ui/toasts.ts';
import { commentedProducts } from './queries.ts';
import { showComment } from './show-comment.ts';

vi.mock(import('../../ui/toasts.ts'), () => ({
  showToast: vi.fn(() => 7),
  showLoadFailure: vi.fn(),
  dismissToast: vi.fn(),
}));

interface Situation {
  isTyping?: boolean;
  /** False if the document scrolled before the app ran. */
  mayScroll?: boolean;
  /** Whether the document contains `c2` from the start. */
  isRendered?: boolean;
  linked?: string;
  /** Runs while each further page loads. */
  duringLoad?: () => void;
  /** Reads the held comments. If set, this browser has commented on the product. */
  listHeldComments?: Api['listHeldComments'];
}

/** Opens the link of a comment. The second of three pages has `c2`, which is rendered 11 frames after it was loaded. */
async function show(situation: Situation) {
  const {
    isTyping = false,
    mayScroll = true,
    isRendered = false,
    linked = 'c2',
    duringLoad,
    listHeldComments,
  } = situation;
  vi.clearAllMocks();
  /** The limit of each request for a page. */
  const loaded: (number | undefined)[] = [];
  let frames = 0;
  const element = { dataset: {}, scrollIntoView: vi.fn(), focus: vi.fn(), closest: () => null };
  const title = { scrollIntoView: vi.fn(), focus: vi.fn() };
  vi.stubGlobal(
    'window',
    Object.assign(new EventTarget(), {
      location: { pathname: '/product/harbour', search: '', hash: `#comment-${linked}` },
      matchMedia: () => ({ matches: false }),
    }),
  );
  vi.stubGlobal('document', {
    activeElement: { matches: () => isTyping },
    querySelector: () => ({ value: 'best' }),
    getElementById: (id: string) => {
      if (id === 'comments-title') return title;
      return id === 'comment-c2' && (isRendered || frames > 10) ? element : null;
    },
  });
  vi.stubGlobal('requestAnimationFrame', (callback: () => void) => {
    frames += 1;
    setImmediate(callback);
  });
  const listComments: Api['listComments'] = async (_product, { limit }) => {
    const page = loaded.push(limit);
    if (page > 1) duringLoad?.();
    return { items: [exampleComment({ id: `c${page}` })], total: 3, nextCursor: page < 3 ? `after-c${page}` : null };
  };
  commentedProducts.write(listHeldComments ? ['harbour'] : []);
  const api = { listComments, listHeldComments } as Partial<Api> as Api;
  await showComment(api, new QueryClient(), `#comment-${linked}`, mayScroll);
  return { loaded, element, title };
}

test('only the pages up to a linked comment are loaded, and the comment is focused once it is rendered', async () => {
  const { loaded, element } = await show({});
  expect(loaded).toEqual([undefined, 100]);
  expect(element.focus).toHaveBeenCalledOnce();
  expect(element.dataset).toEqual({ highlighted: 'true' });
});

test('a message shows while the pages up to a linked comment load, and then disappears', async () => {
  const toasts: string[] = [];
  await show({ duringLoad: () => toasts.push(...vi.mocked(showToast).mock.calls.map(([{ title }]) => title)) });
  expect(toasts).toEqual(['Loading comments...']);
  expect(showToast).toHaveBeenCalledOnce();
  expect(dismissToast).toHaveBeenCalledExactlyOnceWith(7);
});

test('a link to a comment that does not exist focuses the title of the discussion and shows a message', async () => {
  const { loaded, title } = await show({ linked: 'unknown' });
  expect(loaded).toHaveLength(3);
  expect(title.focus).toHaveBeenCalledOnce();
  expect(showToast).toHaveBeenLastCalledWith(expect.objectContaining({ description: 'Comment not found' }));
});

test('if the comments cannot be read, no message says that a linked comment does not exist', async () => {
  const { title } = await show({
    duringLoad: () => {
      throw new Error('The network failed');
    },
  });
  expect(title.focus).toHaveBeenCalledOnce();
  expect(showToast).toHaveBeenCalledOnce();
});

test('a linked comment that the browser has scrolled to is focused and highlighted, but not scrolled to again', async () => {
  const { loaded, element } = await show({ mayScroll: false, isRendered: true });
  expect(loaded).toEqual([]);
  expect(element.scrollIntoView).not.toHaveBeenCalled();
  expect(element.focus).toHaveBeenCalledExactlyOnceWith({ preventScroll: true });
  expect(element.dataset).toEqual({ highlighted: 'true' });
});

test('a linked comment on a further page is not searched for if the visitor scrolled before the app ran', async () => {
  const { loaded, element, title } = await show({ mayScroll: false });
  expect(loaded).toEqual([]);
  for (const { scrollIntoView, focus } of [element, title]) {
    expect(scrollIntoView).not.toHaveBeenCalled();
    expect(focus).not.toHaveBeenCalled();
  }
});

test('a linked comment does not take the focus from a visitor who is typing', async () => {
  const { element } = await show({ isTyping: true });
  expect(element.scrollIntoView).not.toHaveBeenCalled();
  expect(element.focus).not.toHaveBeenCalled();
});

test('the search for a linked comment stops once the visitor scrolls, and then does not move the focus', async () => {
  const { loaded, element, title } = await show({
    linked: 'c3',
    duringLoad: () => window.dispatchEvent(new Event('wheel')),
  });
  expect(loaded).toEqual([undefined, 100]);
  expect(element.focus).not.toHaveBeenCalled();
  expect(title.focus).not.toHaveBeenCalled();
  expect(dismissToast).toHaveBeenCalledOnce();
});

test('a linked comment is focused even if the read of held comments has not ended', async () => {
  const { element } = await show({ listHeldComments: () => new Promise(() => {}) });
  expect(element.focus).toHaveBeenCalledOnce();
});

test('if the held comments cannot be read, a message says that loading failed', async () => {
  const listHeldComments = vi.fn(() => Promise.reject(new Error('The network failed')));
  const { title } = await show({ linked: 'unknown', listHeldComments });
  expect(title.focus).toHaveBeenCalledOnce();
  expect(showLoadFailure).toHaveBeenCalledOnce();
  expect(showToast).toHaveBeenCalledOnce();
  // One retry, however many pages the list has.
  expect(listHeldComments).toHaveBeenCalledTimes(2);
});
