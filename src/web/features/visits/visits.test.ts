import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, onTestFinished, test, vi } from 'vitest';
import { lastVisitEnd, NewMarker, VISIT_GAP_MS, visits, visitsAt } from './visits.tsx';

const NOON = 1_800_000_000_000;

test('no product is new on the first visit', () => {
  expect(visitsAt(null, NOON)).toEqual({ seenAt: NOON, lastEndedAt: null });
});

test('activity within half an hour belongs to the same visit', () => {
  const first = visitsAt(null, NOON);
  const soon = NOON + VISIT_GAP_MS - 1;
  expect(visitsAt(first, soon)).toEqual({ seenAt: soon, lastEndedAt: null });
});

test('after half an hour, a new visit begins, and the previous one ended with its last activity', () => {
  const later = visitsAt({ seenAt: NOON, lastEndedAt: NOON - 9 }, NOON + VISIT_GAP_MS);
  expect(later).toEqual({ seenAt: NOON + VISIT_GAP_MS, lastEndedAt: NOON });
  expect(visitsAt(later, later.seenAt + 5).lastEndedAt, 'unchanged during the visit').toBe(NOON);
});

test('setting the clock back does not begin a new visit', () => {
  expect(visitsAt({ seenAt: NOON, lastEndedAt: 1 }, NOON - 5)).toEqual({ seenAt: NOON - 5, lastEndedAt: 1 });
});

test('a visit begins only in a visible tab', () => {
  onTestFinished(() => void vi.unstubAllGlobals());
  vi.spyOn(Date, 'now').mockReturnValue(NOON + VISIT_GAP_MS);
  onTestFinished(() => void vi.restoreAllMocks());
  const stored = { seenAt: NOON, lastEndedAt: NOON - 9 };
  const ends = ['hidden', 'visible'].map((visibilityState) => {
    vi.stubGlobal('document', { visibilityState });
    return lastVisitEnd(stored);
  });
  expect(ends).toEqual([NOON - 9, NOON]);
});

test('invalid stored visits are ignored', () => {
  onTestFinished(() => void vi.unstubAllGlobals());
  const read = (stored: unknown) => {
    vi.stubGlobal('window', { localStorage: { getItem: () => JSON.stringify(stored) } });
    return visits.read();
  };
  const valid = { seenAt: NOON, lastEndedAt: null };
  expect(read(valid)).toEqual(valid);
  expect([{ seenAt: 'yesterday' }, { seenAt: NOON }, 7, null].map(read)).toEqual([null, null, null, null]);
});

test('a product launched since the last visit is marked as new, but without stored visits, none is', () => {
  const marker = () => renderToStaticMarkup(createElement(NewMarker, { createdAt: '2999-01-01T00:00:00.000Z' }));
  expect(marker()).toBe('');
  onTestFinished(() => void vi.unstubAllGlobals());
  vi.stubGlobal('document', { visibilityState: 'visible' });
  // In this rendering, `initial` replaces the stored visits.
  const { initial } = visits;
  try {
    visits.initial = { seenAt: Date.now(), lastEndedAt: NOON };
    expect(marker()).toContain('since your last visit');
  } finally {
    visits.initial = initial;
  }
});
