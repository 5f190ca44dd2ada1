import { QueryClient } from '@tanstack/react-query';
import { expect, test, vi } from 'vitest';
import { exampleComment } from '../../../../tests/support/product-data.ts';
import type { Api } from '../../../contract/api.ts';
import { showComment } from './show-comment.ts';

/** Shows a comment that is on the second of three pages, and is rendered 11 frames after that page was loaded. */
async function show({ isTyping }: { isTyping: boolean }) {
  const loaded: string[] = [];
  let frames = 0;
  const element = { dataset: {}, scrollIntoView: vi.fn(), focus: vi.fn() };
  vi.stubGlobal('window', {
    location: { pathname: '/product/harbour', search: '' },
    matchMedia: () => ({ matches: false }),
  });
  vi.stubGlobal('document', {
    activeElement: { matches: () => isTyping },
    getElementById: (id: string) => (id === 'comment-c2' && frames > 10 ? element : null),
  });
  vi.stubGlobal('requestAnimationFrame', (callback: () => void) => {
    frames += 1;
    setImmediate(callback);
  });
  const listComments = async () => {
    const page = loaded.length + 1;
    loaded.push(`page ${page}`);
    return { items: [exampleComment({ id: `c${page}` })], total: 3, nextCursor: page < 3 ? `after-c${page}` : null };
  };
  await showComment({ listComments } as unknown as Api, new QueryClient(), '#comment-c2');
  return { loaded, element };
}

test('a linked comment is focused once it is rendered, and no page after its own is loaded', async () => {
  const { loaded, element } = await show({ isTyping: false });
  expect(loaded).toEqual(['page 1', 'page 2']);
  expect(element.focus).toHaveBeenCalledOnce();
  expect(element.dataset).toEqual({ highlighted: 'true' });
});

test('a linked comment does not take the focus from a visitor who is typing', async () => {
  const { element } = await show({ isTyping: true });
  expect(element.scrollIntoView).not.toHaveBeenCalled();
  expect(element.focus).not.toHaveBeenCalled();
});
