import type { Locator, Page } from '@playwright/test';

/** What a visitor finds on the screens, by the names that a screen reader says. */

export function cardOf(page: Page, productName: string): Locator {
  return page.getByRole('article').filter({ has: page.getByRole('heading', { name: productName, exact: true }) });
}

export function cardNames(page: Page): Locator {
  return page.getByRole('region', { name: 'Top Products Launching Today' }).getByRole('heading', { level: 3 });
}

export function upvoteOf(page: Page, productName: string): Locator {
  return page.getByRole('button', { name: `Upvote ${productName},` });
}

export function searchBox(page: Page): Locator {
  return page.getByRole('searchbox', { name: 'Search products' });
}

/** A neutral message. */
export function toast(page: Page): Locator {
  return page.getByRole('region', { name: 'Messages' }).getByRole('status').locator('.toast');
}

/** A destructive message. */
export function failureToast(page: Page): Locator {
  return page.getByRole('region', { name: 'Messages' }).getByRole('alert').locator('.toast');
}

export function discussion(page: Page): Locator {
  return page.locator('section#comments');
}

export function commentArticles(page: Page): Locator {
  return discussion(page).getByRole('article');
}

/** A comment's text, where line breaks count. */
export function commentTexts(page: Page): Locator {
  return commentArticles(page).locator('.comment-text');
}

/** The article of the comment with this text. */
export function commentWith(page: Page, text: string): Locator {
  return commentArticles(page).filter({ hasText: text });
}

/** Where a comment is written. */
export function commentBox(page: Page): Locator {
  return page.getByPlaceholder('What do you think about this product?', { exact: true });
}

export function postButton(page: Page): Locator {
  return discussion(page).getByRole('button', { name: /^Post/ });
}

export function discussionTitle(page: Page): Locator {
  return discussion(page).getByRole('heading', { level: 2 });
}
