import { createHash } from 'node:crypto';

/** A drawn card. */
export interface DrawnCard {
  png: Buffer;
  /** Strong validator of these bytes, with its quotes. */
  etag: string;
  /** Names what it shows apart from counts; another one is another card. */
  look: string;
  upvotes: number;
  /** Milliseconds since 1970. */
  drawnAt: number;
}

/** Drawn cards by key: bounded by bytes, least recently used first out. */
export class CardStore {
  readonly #maxBytes: number;
  readonly #cards = new Map<string, DrawnCard>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(key: string): DrawnCard | undefined {
    const card = this.#cards.get(key);
    if (card !== undefined) {
      this.#cards.delete(key);
      this.#cards.set(key, card);
    }
    return card;
  }

  put(key: string, drawn: Omit<DrawnCard, 'etag'>): DrawnCard {
    this.remove(key);
    const etag = `"${createHash('sha256').update(drawn.png).digest('base64url').slice(0, 22)}"`;
    const card = { ...drawn, etag };
    this.#cards.set(key, card);
    this.#bytes += card.png.length;
    for (const oldest of this.#cards.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.remove(oldest);
    }
    return card;
  }

  remove(key: string): void {
    this.#bytes -= this.#cards.get(key)?.png.length ?? 0;
    this.#cards.delete(key);
  }
}
