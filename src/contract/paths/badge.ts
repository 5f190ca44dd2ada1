import { withId, withQuery } from './api.ts';

export type BadgeTheme = 'light' | 'dark';

/** The boards whose final rank a badge can show. */
export type BadgeBoard = 'day' | 'week' | 'month';

const badgeOf = withId('/badge/:id.svg');

/**
 * A badge to embed on other sites, with the current count of upvotes or a final rank. This file is separate from
 * `paths.ts`, so the initial bundle does not contain it.
 */
export const badgePath = Object.assign(
  (id: string, theme: BadgeTheme = 'light', board?: BadgeBoard) =>
    withQuery(badgeOf(id), { theme: theme === 'dark' ? theme : undefined, board }),
  { route: badgeOf.route },
);
