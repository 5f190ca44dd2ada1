/** What a share image shows, as plain data that crosses to the process that draws it. */
export interface Card {
  siteName: string;
  /** Unset on the card of the site itself. */
  product?: CardProduct;
}

export interface CardProduct {
  id: string;
  name: string;
  maker: string;
  description: string;
  upvotes: number;
  /** The bytes of its picture, as they are in the file; unset where there is none that may be read. */
  picture?: Buffer;
}

/** The size that OpenGraph and Twitter show whole. */
export const CARD_SIZE = { width: 1200, height: 630 } as const;

/** From the site to the process that draws. */
export interface PaintOrder {
  number: number;
  card: Card;
}

/** From the process that draws to the site: first that it is ready, then an answer to each order. */
export type PainterMessage =
  | { kind: 'ready' }
  | { kind: 'painted'; number: number; png: Uint8Array; residentBytes: number }
  | { kind: 'failed'; number: number; reason: string };
