import { createHash } from 'node:crypto';
import type { Sql } from '../database/database.ts';
import { completeProduct, type StoredProduct } from '../products/complete-product.ts';
import { PRODUCT_COLUMNS, type ProductRow, productOf } from '../products/product-row.ts';
import { IMPORT_FIELDS } from './fields.ts';
import type { ProductPatch } from './read-product.ts';
import { slugOfName } from './slug.ts';

/** A product of the site whose id is a slug, or that slug and a number. */
interface Namesake {
  id: string;
  createdAt: string;
}

interface SlugState {
  /** The number that is tried next; 1 stands for the slug alone. */
  next: number;
  /** Products of the site by what they hold, apart from id and time; those that a row was found to be are taken out. */
  namesakes?: Map<string, Namesake[]>;
  ids?: Set<string>;
}

const SELECT_NAMESAKES = `SELECT wanted.slug, ${PRODUCT_COLUMNS}
  FROM unnest($1::text[]) AS wanted (slug)
  CROSS JOIN LATERAL (
    SELECT * FROM products WHERE id = wanted.slug
    UNION ALL
    SELECT * FROM products
    WHERE id > (wanted.slug || '-') COLLATE "C" AND id < (wanted.slug || '.') COLLATE "C"
      AND substr(id, length(wanted.slug) + 2) ~ '^[1-9][0-9]*$'
  ) AS p
  LEFT JOIN product_counts c ON c.product_id = p.id`;

/**
 * Gives ids to rows that bring none: a slug of the name, with a number where that is another product's. A product of the
 * site that holds just what the row would make is that row, imported before; so the same file makes the same ids again,
 * and yet no row takes over a product that is somebody else's.
 */
export class IdAssigner {
  readonly #idsOfFile: ReadonlyMap<string, unknown>;
  readonly #slugs = new Map<string, SlugState>();
  /** A number behind one slug may make another one. */
  readonly #given = new Set<string>();

  /** @param idsOfFile the ids that rows of the file bring themselves. */
  constructor(idsOfFile: ReadonlyMap<string, unknown>) {
    this.#idsOfFile = idsOfFile;
  }

  /** @returns an id for each patch, in their order. @throws CoreError `unavailable`. */
  async assign(sql: Sql, patches: readonly ProductPatch[]): Promise<string[]> {
    // The time is left out of what is compared.
    const made = patches.map((patch) => completeProduct({ ...patch, id: '' }, new Date(0)));
    const slugs = made.map(({ name }) => slugOfName(name));
    await this.#look(sql, slugs);
    return made.map((product, index) => this.#idFor(slugs[index] ?? '', product, patches[index]?.createdAt));
  }

  async #look(sql: Sql, slugs: readonly string[]): Promise<void> {
    const unknown = [...new Set(slugs)].filter((slug) => !this.#slugs.has(slug));
    if (unknown.length === 0) return;
    for (const slug of unknown) this.#slugs.set(slug, { next: 1 });
    const rows = await sql.query<ProductRow & { slug: string }>(SELECT_NAMESAKES, [unknown]);
    for (const row of rows) {
      const state = this.#slugs.get(row.slug);
      if (state === undefined || this.#idsOfFile.has(row.id)) continue;
      const product = productOf(row);
      const content = contentOf(product);
      state.ids ??= new Set();
      state.ids.add(product.id);
      state.namesakes ??= new Map();
      const same = state.namesakes.get(content) ?? [];
      state.namesakes.set(content, same);
      same.push({ id: product.id, createdAt: product.createdAt });
    }
  }

  #idFor(slug: string, product: StoredProduct, createdAt: string | undefined): string {
    const state = this.#slugs.get(slug);
    if (state === undefined) throw new Error(`The slug ${slug} was not looked up`);
    const id = claimedBy(state, contentOf(product), createdAt) ?? this.#freeId(slug, state);
    this.#given.add(id);
    return id;
  }

  #freeId(slug: string, state: SlugState): string {
    for (;;) {
      const id = state.next === 1 ? slug : `${slug}-${state.next}`;
      state.next += 1;
      if (!this.#idsOfFile.has(id) && !this.#given.has(id) && !state.ids?.has(id)) return id;
    }
  }
}

/** Takes out a product that holds just this; any time is right for a row that gives none. */
function claimedBy({ namesakes }: SlugState, content: string, createdAt: string | undefined): string | undefined {
  const same = namesakes?.get(content) ?? [];
  const index = same.findLastIndex((each) => createdAt === undefined || each.createdAt === createdAt);
  return index === -1 ? undefined : same.splice(index, 1)[0]?.id;
}

const CONTENT_FIELDS = IMPORT_FIELDS.filter((field) => field !== 'id' && field !== 'createdAt');

/** A fingerprint of what a product holds, apart from its id and time. */
function contentOf(product: StoredProduct): string {
  const { team } = product;
  // Members as lists: the database gives their keys in an order of its own.
  const members = team.map(({ name, avatar, role }) => [name, avatar, role]);
  const content = CONTENT_FIELDS.map((field) => (field === 'team' ? members : product[field]));
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 22);
}
