import { createTaskProcess } from '../../task-process/task-process.ts';

/** The content of a share image, as it is sent to the worker. */
export interface Card {
  brand: CardBrand;
  /** If neither `product` nor `board` is set, this is the card of the site itself. */
  product?: CardProduct;
  board?: CardBoard;
}

/** The site's name, logo and colours, as cards show them. */
export interface CardBrand {
  name: string;
  /** Shown only on the card of the site itself. */
  tagline: string;
  mark: CardMark;
  /** A picture file that replaces the mark. If it cannot be read, cards show the mark. */
  logo?: Buffer | undefined;
  /** The colours of the upvote pill and of ranks, instead of orange. */
  accent?: { pill: string; ink: string; place: string } | undefined;
}

/** A picture made of shapes, in a square of 32 × 32 with rounded corners. */
export interface CardMark {
  background: string;
  /** Listed from back to front. `path` is SVG path data. */
  shapes: readonly { fill: string; path: string }[];
}

export interface CardProduct {
  id: string;
  name: string;
  maker: string;
  description: string;
  upvotes: number;
  /** The product's final rank, such as '4th of 23 on 21 November 2026'. */
  award?: string | undefined;
  /** The bytes of the product's picture file, if there is one. */
  picture?: Buffer;
}

export interface CardBoard {
  /** For example, 'Launches of 21 November 2026'. */
  title: string;
  /** For example, '23 launches, so far'. */
  summary: string;
  /** The highest-ranked launches that have votes, at most three. */
  first: { place: string; name: string; votes: string }[];
}

/** The size of all cards in pixels. Link previews on other sites show this size uncropped. */
export const CARD_SIZE = { width: 1200, height: 630 } as const;

/** SVG path data of the upvote icon, which is stroked, in a square of 20 × 20. */
export const UPVOTE_PATHS = ['M4.5 11.5 10 5.5l5.5 6', 'M6 15.5c1.3-1.2 2.7-1.2 4 0s2.7 1.2 4 0'] as const;

/** Draws cards, one at a time, in a separate process. */
export interface CardRenderer {
  /** @returns the PNG. @throws TaskError */
  render(card: Card): Promise<Buffer>;
  /**
   * Finishes the card that is being drawn, and rejects queued ones. Later cards that would have to wait are rejected,
   * too. Thus no request waits for more than one card while the server stops.
   */
  stopQueueing(): void;
  /** Ends the process immediately; unfinished cards are rejected as `closed`. */
  close(): Promise<void>;
}

interface CardRendererOptions {
  log: { warn(details: object, message: string): void };
  fontFolder: string;
  /** The path of the program `card-worker`: its source or its build. */
  workerFile: string;
}

export function createCardRenderer({ log, fontFolder, workerFile }: CardRendererOptions): CardRenderer {
  const process = createTaskProcess<Card, Uint8Array>({
    name: 'card-worker',
    log,
    file: workerFile,
    args: [fontFolder],
    // Without this variable, the canvas library searches for system fonts as soon as it is loaded.
    environment: { DISABLE_SYSTEM_FONTS_LOAD: '1' },
    describe: ({ product }) => ({ product: product?.id }),
  });
  return {
    async render(card) {
      const { buffer, byteOffset, byteLength } = await process.run(card);
      return Buffer.from(buffer, byteOffset, byteLength);
    },
    stopQueueing: process.stopQueueing,
    close: process.close,
  };
}
