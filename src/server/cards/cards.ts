import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LRUCache } from 'lru-cache';
import { formatPeriod, ordinal } from '../../contract/leaderboards/format.ts';
import type { Leaderboard } from '../../contract/leaderboards/schema.ts';
import type { Product } from '../../contract/products/schema.ts';
import { formatQuantity } from '../../contract/text.ts';
import { CoreError } from '../../core/core-error.ts';
import { createSemaphore } from '../../core/semaphore.ts';
import { type Brand, NO_BRAND } from '../../settings/brand.ts';
import { PACKAGE_FOLDERS } from '../../settings/package-root.ts';
import { TaskError } from '../task-process/task-process.ts';
import { cardBrandOf } from './card-brand.ts';
import type { ReadOwnPicture } from './own-pictures.ts';
import type { Card, CardBoard, CardRenderer } from './renderer/card-renderer.ts';

interface DrawnCard {
  png: Buffer;
  /** A strong validator of these bytes, including the quotes. */
  etag: string;
  /** A key that changes with everything that the card shows, except counts. */
  contentKey: string;
  /** The counts that the card shows. */
  counts: string;
  /** When drawing began, as a value of `monotonicMs`. */
  drawnAt: number;
}

/** A card, or a substitute for it. */
export interface ServedCard {
  card: DrawnCard;
  /** Whether `card` is a substitute: an older card or the site's own card. Clients must not cache substitutes. */
  isSubstitute: boolean;
}

export interface Cards {
  /**
   * Returns the card of a product. `award` is the product's final rank, if it has one. If the request causes a drawing,
   * `charge` is called first, and may refuse the drawing by throwing an error.
   * @throws CoreError `overloaded` if neither the card nor a substitute is available, or the error of `charge`.
   */
  ofProduct(product: Product, award?: string, charge?: () => void): Promise<ServedCard>;
  /** Returns the card of a leaderboard. @throws CoreError as `ofProduct` does. */
  ofBoard(board: Leaderboard): Promise<ServedCard>;
  /** Returns the card of the site itself. @throws CoreError `overloaded` if it cannot be drawn. */
  ofSite(): Promise<ServedCard>;
  /**
   * Stops queueing cards when the site stops. From then on, a request whose card would have to wait for another drawing
   * gets a substitute immediately, if there is one.
   */
  stopQueueing(): void;
  close(): Promise<void>;
}

interface CardsOptions {
  renderer: CardRenderer;
  readPicture: ReadOwnPicture;
  siteName: string;
  brand?: Brand;
  maxBytes?: number;
  /** The monotonic clock of `Runtime`. */
  monotonicMs: () => number;
}

/** Enough for about 250 cards. */
const MAX_BYTES = 24 * 1024 * 1024;

/**
 * The counts on a card may lag by this much. Other sites cache cards for days anyway, and a product that is upvoted
 * every second must not cause a drawing every second.
 */
export const COUNT_LAG_MS = 10 * 60_000;

/** The maximum number of cards that are being drawn or waiting. Requests for further cards get substitutes. */
export const MAX_DRAWINGS = 64;

/** The maximum number of cards whose pictures are in memory: the card that is being drawn, and the next one. */
const MAX_PICTURES_READ = 2;
/** How long a card waits until it may read its picture. */
const PICTURE_TIMEOUT_MS = 60_000;

/** After a failure, the same card is not drawn again for this long. */
const RETRY_DELAY_MS = 60_000;
const MAX_FAILURES = 1_000;

/** The program of the card worker: the TypeScript source in development, otherwise the built file. */
export const CARD_WORKER_FILE = import.meta.url.endsWith('.ts')
  ? fileURLToPath(new URL('./renderer/card-worker.ts', import.meta.url))
  : join(PACKAGE_FOLDERS.server, 'card-worker.js');

/** Key of the site's own card; no product has this id. */
const SITE_CARD_KEY = '*';

/** Draws each version of a card once for any number of waiting requests. */
export function createCards(options: CardsOptions): Cards {
  const { renderer, readPicture, siteName, maxBytes = MAX_BYTES, monotonicMs } = options;
  const brand = cardBrandOf(siteName, options.brand ?? NO_BRAND);
  const cache = new LRUCache<string, DrawnCard>({ maxSize: maxBytes, sizeCalculation: ({ png }) => png.length });
  const drawings = new Map<string, Promise<DrawnCard>>();
  const failedUntil = new Map<string, number>();
  const pictures = createSemaphore(MAX_PICTURES_READ);

  async function ofProduct(product: Product, award?: string, charge?: () => void): Promise<ServedCard> {
    const { name, maker, description, image } = product;
    const contentKey = hashOf([name, maker, description, image, award]);
    const shown = { contentKey, counts: String(product.upvotes) };
    return serve(product.id, shown, () => drawProduct(product, award), charge);
  }

  async function ofBoard(leaderboard: Leaderboard): Promise<ServedCard> {
    const { period, status, revision } = leaderboard;
    const board = cardOf(leaderboard);
    const places = board.first.map(({ place, name }) => [place, name]);
    const shown = { contentKey: hashOf([status, revision, places]), counts: JSON.stringify(board) };
    // No product id contains `*`, so the keys of leaderboards cannot collide with those of products.
    return serve(`*${period}`, shown, () => renderer.render({ brand, board }));
  }

  async function ofSite(): Promise<ServedCard> {
    return serve(SITE_CARD_KEY, { contentKey: siteName, counts: '' }, () => renderer.render({ brand }));
  }

  async function serve(
    key: string,
    { contentKey, counts }: Pick<DrawnCard, 'contentKey' | 'counts'>,
    draw: () => Promise<Buffer>,
    charge?: () => void,
  ): Promise<ServedCard> {
    const cached = cache.get(key);
    if (
      cached?.contentKey === contentKey &&
      (cached.counts === counts || monotonicMs() - cached.drawnAt < COUNT_LAG_MS)
    ) {
      return { card: cached, isSubstitute: false };
    }
    const drawn = async () => {
      const drawnAt = monotonicMs();
      const png = await draw();
      const etag = `"${createHash('sha256').update(png).digest('base64url').slice(0, 22)}"`;
      const card = { png, etag, contentKey, counts, drawnAt };
      cache.set(key, card);
      return card;
    };
    try {
      return { card: await once(key, contentKey, drawn, charge), isSubstitute: false };
    } catch (error) {
      if (!(error instanceof TaskError)) throw error;
      if (cached !== undefined) return { card: cached, isSubstitute: true };
      if (key !== SITE_CARD_KEY) return { card: (await ofSite()).card, isSubstitute: true };
      throw new CoreError('overloaded', 'The picture cannot be drawn right now. Please try again.', { cause: error });
    }
  }

  /**
   * Returns the drawing in progress for the same content, or charges the request and starts one. Rejects if drawing the
   * same content failed less than `RETRY_DELAY_MS` ago.
   */
  async function once(
    key: string,
    contentKey: string,
    draw: () => Promise<DrawnCard>,
    charge?: () => void,
  ): Promise<DrawnCard> {
    const drawingKey = `${key} ${contentKey}`;
    if ((failedUntil.get(drawingKey) ?? 0) > monotonicMs()) {
      throw new TaskError('failed', 'The card failed to render a moment ago');
    }
    const current = drawings.get(drawingKey);
    if (current) return current;
    // Other requests share the drawing, so this request is charged before the drawing starts, and a refusal fails only
    // this request. With `MAX_DRAWINGS` in progress, no further product is drawn, so nothing is charged.
    if (drawings.size < MAX_DRAWINGS) charge?.();
    const drawing = draw()
      .catch((error: unknown) => {
        if (error instanceof TaskError && error.kind === 'failed') rememberFailure(drawingKey);
        throw error;
      })
      .finally(() => drawings.delete(drawingKey));
    drawings.set(drawingKey, drawing);
    return drawing;
  }

  async function drawProduct(product: Product, award?: string): Promise<Buffer> {
    const { id, name, maker, description, upvotes } = product;
    const shown = { id, name, maker, description, upvotes, award };
    const release = drawings.size < MAX_DRAWINGS ? await pictures.acquire(PICTURE_TIMEOUT_MS) : undefined;
    if (release === undefined) throw new TaskError('busy', 'Too many cards are waiting');
    try {
      const picture = await readPicture(product.image);
      return await renderer.render({ brand, product: picture ? { ...shown, picture } : shown }).catch((error) => {
        // Decoding the picture may have crashed the worker, so the card is drawn without it.
        if (!picture || !(error instanceof TaskError) || error.kind !== 'failed') throw error;
        return renderer.render({ brand, product: shown } satisfies Card);
      });
    } finally {
      release();
    }
  }

  function rememberFailure(failureKey: string): void {
    if (failedUntil.size >= MAX_FAILURES) failedUntil.clear();
    failedUntil.set(failureKey, monotonicMs() + RETRY_DELAY_MS);
  }

  return {
    ofProduct,
    ofBoard,
    ofSite,
    stopQueueing: () => renderer.stopQueueing(),
    close: () => renderer.close(),
  };
}

const CARD_LAUNCHES = 3;

/** Returns the text on the card of a leaderboard. */
function cardOf({ period, kind, status, launches, items }: Leaderboard): CardBoard {
  const first = items.filter(({ votes }) => votes > 0).slice(0, CARD_LAUNCHES);
  return {
    title: `Launches of ${formatPeriod({ name: period, kind })}`,
    summary: `${formatQuantity(launches, 'launch', 'launches')}, ${status === 'final' ? 'final result' : 'so far'}`,
    first: first.map(({ rank, tied, name, votes }) => ({
      place: ordinal(rank),
      name,
      votes: `${formatQuantity(votes, 'vote')}${tied ? ', tied' : ''}`,
    })),
  };
}

function hashOf(content: unknown): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url');
}
