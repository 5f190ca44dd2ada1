import { expect, type Locator, type Page } from '@playwright/test';

/** The widths at which layouts are checked, in CSS pixels. */
export const WIDTHS = { phone: 390, tablet: 768, desktop: 1280 };

export const PHONE = { width: 390, height: 844 };
export const DESKTOP = { width: 1280, height: 900 };

/** Every screen size with every theme. The first two cover both sizes and both themes. */
export const SCREEN_VARIANTS = [
  { size: PHONE, colorScheme: 'light' },
  { size: DESKTOP, colorScheme: 'dark' },
  { size: PHONE, colorScheme: 'dark' },
  { size: DESKTOP, colorScheme: 'light' },
] as const;

/** Returns the variant that the index `turn` selects, or all variants in `npm run test:sweeps`. */
export function selectVariants<T>(variants: readonly T[], turn: number): readonly T[] {
  return process.env.SWEEPS === 'all' ? variants : variants.filter((_, index) => index === turn % variants.length);
}

/** Lists the elements that make the page wider than the screen, with their right edges. */
export function elementsBeyondScreen(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const isClipped = (element: Element): boolean => {
      const parent = element.parentElement;
      if (parent === null || parent === document.body) return false;
      return getComputedStyle(parent).overflowX !== 'visible' || isClipped(parent);
    };
    const beyond = [...document.body.querySelectorAll('*')]
      .filter((element) => element.getBoundingClientRect().right > clientWidth && !isClipped(element))
      .map((element) => `${element.getBoundingClientRect().right} ${element.outerHTML.slice(0, 150)}`);
    return [`${scrollWidth} > ${clientWidth}`, ...beyond.slice(0, 10)];
  });
}

/** Focuses an element and returns how many pixels of its focus ring are beyond the screen or clipped by an ancestor. */
export async function clippedRing(control: Locator): Promise<number> {
  // After a key press, browsers also show the ring of an element that a script focuses.
  await control.page().keyboard.press('Shift');
  await control.focus();
  return control.evaluate((element) => {
    const { outlineStyle, outlineWidth, outlineOffset } = getComputedStyle(element);
    if (outlineStyle === 'none') throw new Error('The element has no focus ring.');
    const reach = Number.parseFloat(outlineWidth) + Number.parseFloat(outlineOffset);
    const ring = element.getBoundingClientRect();
    const screen = new DOMRect(0, 0, window.innerWidth, window.innerHeight);
    let clip: Element | null = element.parentElement;
    while (clip && getComputedStyle(clip).overflowX === 'visible') clip = clip.parentElement;
    const room = clip && clip !== document.documentElement ? clip.getBoundingClientRect() : screen;
    return Math.max(
      0,
      ...[room.left - ring.left, room.top - ring.top, ring.right - room.right, ring.bottom - room.bottom].map(
        (distance) => Math.round(distance + reach),
      ),
    );
  });
}

/** Returns the number of lines that a link, or the heading around it, takes up when its text is long. */
export function linesOfLongText(link: Locator): Promise<number> {
  return link.evaluate((element) => {
    const text = element.textContent;
    element.textContent = 'A long name '.repeat(25);
    const box = element.closest('h2') ?? element;
    const lines = box.getBoundingClientRect().height / Number.parseFloat(getComputedStyle(box).lineHeight);
    element.textContent = text;
    return Math.round(lines);
  });
}

/** Sets the size of text as a percentage of the default. */
export async function setTextSize(page: Page, percent: number): Promise<void> {
  await page.evaluate((size) => {
    document.documentElement.style.fontSize = size;
    // Forces a layout, which applies container queries to the new size.
    document.body.getBoundingClientRect();
  }, `${percent}%`);
}

/** Returns the visible words of an element that are broken across lines, other than at hyphens and soft hyphens. */
export function brokenWords(text: Locator): Promise<string[]> {
  return text.evaluate((element) => {
    const nodes = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    const broken: string[] = [];
    for (let node = nodes.nextNode(); node !== null; node = nodes.nextNode()) {
      const parent = node.parentElement;
      if (!parent?.checkVisibility() || parent.closest('.visually-hidden')) continue;
      const topOf = (at: number) => {
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        // The first box may be that of a soft hyphen on the previous line.
        return Array.from(range.getClientRects()).at(-1)?.top;
      };
      for (const { 0: word, index } of (node.nodeValue ?? '').matchAll(/[^\s\u00AD-]+/g)) {
        if (topOf(index) !== topOf(index + word.length - 1)) broken.push(word);
      }
    }
    return broken;
  });
}

/** Converts a computed colour, such as `rgb(7, 94, 104)`, to hexadecimal notation. @throws for other colour spaces. */
export function toHex(colour: string): string {
  if (!colour.startsWith('rgb')) throw new Error(`${colour} is not an RGB colour`);
  const channels = (colour.match(/[\d.]+/g) ?? []).slice(0, 3);
  return `#${channels.map((channel) => Math.round(Number(channel)).toString(16).padStart(2, '0')).join('')}`;
}

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

/** Records the current text of an element and each later text. @returns a function that reads the texts so far. */
export async function textsOf(element: Locator): Promise<() => Promise<string[]>> {
  const handle = await element.evaluateHandle((node) => {
    const texts = [node.textContent ?? ''];
    new MutationObserver(() => {
      const text = node.textContent ?? '';
      if (text !== texts.at(-1)) texts.push(text);
    }).observe(node, { childList: true, characterData: true, subtree: true });
    return texts;
  });
  return () => handle.jsonValue();
}

/** Locates a neutral toast. */
export function toast(page: Page): Locator {
  return page.getByRole('region', { name: 'Messages' }).getByRole('status').locator('.toast');
}

export function failureToast(page: Page): Locator {
  return page.getByRole('region', { name: 'Messages' }).getByRole('alert').locator('.toast');
}

export function discussion(page: Page): Locator {
  return page.locator('section#comments');
}

export function commentArticles(page: Page): Locator {
  return discussion(page).getByRole('article');
}

/** Locates the texts of comments, which preserve line breaks. */
export function commentTexts(page: Page): Locator {
  return commentArticles(page).locator('.comment-text');
}

/** Locates the article of the comment with this text. */
export function commentWith(page: Page, text: string): Locator {
  return commentArticles(page).filter({ hasText: text });
}

export function commentBox(page: Page): Locator {
  return page.getByPlaceholder('What do you think about this product?', { exact: true });
}

export function sortBy(page: Page): Locator {
  return page.getByRole('combobox', { name: 'Sort comments' });
}

export function postButton(page: Page): Locator {
  return discussion(page).getByRole('button', { name: /^Post/ });
}

export function discussionTitle(page: Page): Locator {
  return discussion(page).getByRole('heading', { level: 2 });
}

/** Expects the name, state and title of an upvote button to match this vote and count. */
export async function expectUpvote(page: Page, name: string, { upvoted, count }: { upvoted: boolean; count: number }) {
  const button = upvoteOf(page, name);
  await expect(button).toHaveAccessibleName(`Upvote ${name}, ${count}`);
  await expect(button).toHaveAttribute('aria-pressed', String(upvoted));
  await expect(button).toHaveAttribute('title', upvoted ? 'Remove upvote' : 'Upvote this product');
}

/**
 * Closes the open dialog, but delays its `close` event, as a busy browser does.
 * @returns a function that dispatches the event.
 */
export async function closeDialogLate(page: Page): Promise<() => Promise<void>> {
  const closed = await page.evaluateHandle(() => {
    window.addEventListener('close', (event) => event.isTrusted && event.stopImmediatePropagation(), true);
    const dialog = document.querySelector('dialog');
    dialog?.close();
    return dialog;
  });
  return () => closed.evaluate((dialog) => void dialog?.dispatchEvent(new Event('close')));
}
