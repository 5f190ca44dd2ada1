import { createHash } from 'node:crypto';
import type { Product } from '../../contract/products/schema.ts';
import { CoreError } from '../../core/core-error.ts';
import type { Card } from './card.ts';
import { CardStore, type DrawnCard } from './card-store.ts';
import type { ReadOwnPicture } from './own-pictures.ts';
import { PaintError, type Painter } from './painter.ts';

/** A drawn card, and whether it is the one that was asked for. */
export interface ServedCard {
  card: DrawnCard;
  /** An older one, or the site's, for want of a better one: not to be kept by anybody. */
  isSubstitute: boolean;
}

export interface Cards {
  /** The card of a product. @throws CoreError `overloaded` where neither it nor any substitute can be had. */
  ofProduct(product: Product): Promise<ServedCard>;
  /** The card of the site itself. */
  ofSite(): Promise<ServedCard>;
  /** The site stops: what waits to be drawn is answered at once, by a substitute where there is one. */
  stopQueueing(): void;
  close(): Promise<void>;
}

export interface CardsOptions {
  painter: Painter;
  readPicture: ReadOwnPicture;
  siteName: string;
  maxBytes?: number;
  now?: () => number;
}

/** About 250 cards. */
const MAX_BYTES = 24 * 1024 * 1024;

/**
 * A count that changed is not worth a new card sooner than this: who shows a card keeps it for days anyway, and a product that is
 * upvoted every second must not be drawn every second.
 */
export const COUNT_LAG_MS = 10 * 60_000;

/** How long a card that could not be drawn is not tried again. */
const FAILED_FOR_MS = 60_000;
const MAX_FAILURES = 1_000;

/** A key that is no product's id. */
const SITE = '*';

/** Cards that are drawn once per version, one drawing in flight for each however many ask. */
export function createCards(options: CardsOptions): Cards {
  const { painter, readPicture, siteName, maxBytes = MAX_BYTES, now = Date.now } = options;
  const store = new CardStore(maxBytes);
  const drawings = new Map<string, Promise<DrawnCard>>();
  const failedUntil = new Map<string, number>();

  async function ofProduct(product: Product): Promise<ServedCard> {
    const { id, upvotes } = product;
    const look = lookOf(product);
    const kept = store.get(id);
    if (kept?.look === look && (kept.upvotes === upvotes || now() - kept.drawnAt < COUNT_LAG_MS)) {
      return { card: kept, isSubstitute: false };
    }
    try {
      // Of one whose look changed while it is drawn, the next request after that finds out.
      return { card: await once(id, look, () => drawProduct(product, look)), isSubstitute: false };
    } catch (error) {
      if (!(error instanceof PaintError)) throw error;
      if (kept !== undefined) return { card: kept, isSubstitute: true };
      return { card: (await ofSite()).card, isSubstitute: true };
    }
  }

  async function ofSite(): Promise<ServedCard> {
    try {
      const card = store.get(SITE) ?? (await once(SITE, siteName, () => drawSite()));
      return { card, isSubstitute: false };
    } catch (error) {
      if (!(error instanceof PaintError)) throw error;
      throw new CoreError('overloaded', 'The picture cannot be drawn right now. Please try again.', { cause: error });
    }
  }

  /** Joins the drawing of a key that is under way, or begins one, unless this very card failed a moment ago. */
  function once(key: string, look: string, draw: () => Promise<DrawnCard>): Promise<DrawnCard> {
    const failureKey = `${key} ${look}`;
    if ((failedUntil.get(failureKey) ?? 0) > now()) {
      return Promise.reject(new PaintError('failed', 'The card could not be drawn a moment ago'));
    }
    const drawing =
      drawings.get(key) ??
      draw()
        .catch((error: unknown) => {
          if (error instanceof PaintError && error.kind === 'failed') rememberFailure(failureKey);
          throw error;
        })
        .finally(() => drawings.delete(key));
    drawings.set(key, drawing);
    return drawing;
  }

  async function drawProduct(product: Product, look: string): Promise<DrawnCard> {
    const drawnAt = now();
    const { id, name, maker, description, upvotes } = product;
    const shown = { id, name, maker, description, upvotes };
    const picture = await readPicture(product.image);
    const png = await painter.paint({ siteName, product: picture ? { ...shown, picture } : shown }).catch((error) => {
      // The picture is the one part that may bring a decoder down.
      if (!picture || !(error instanceof PaintError) || error.kind !== 'failed') throw error;
      return painter.paint({ siteName, product: shown } satisfies Card);
    });
    return store.put(id, { png, look, upvotes, drawnAt });
  }

  async function drawSite(): Promise<DrawnCard> {
    const drawnAt = now();
    return store.put(SITE, { png: await painter.paint({ siteName }), look: siteName, upvotes: 0, drawnAt });
  }

  function rememberFailure(failureKey: string): void {
    if (failedUntil.size >= MAX_FAILURES) failedUntil.clear();
    failedUntil.set(failureKey, now() + FAILED_FOR_MS);
  }

  return {
    ofProduct,
    ofSite,
    stopQueueing: () => painter.stopQueueing(),
    close: () => painter.close(),
  };
}

/** Everything that a card shows of a product, but for its count. */
function lookOf({ name, maker, description, image }: Product): string {
  return createHash('sha256')
    .update(JSON.stringify([name, maker, description, image]))
    .digest('base64url');
}
